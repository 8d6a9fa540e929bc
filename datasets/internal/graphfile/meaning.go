package graphfile

import (
	"fmt"
	"slices"
	"strings"
)

// Meaning is what a column's name means. Models learn only from [Feature] columns; others may reveal the class.
type Meaning int

const (
	Feature Meaning = iota
	Class
	TrainMask
	ValidationMask
	TestMask
	otherMask
	id
	rowNumber
	weight
	part
)

// namesOf lists the column names of each meaning, in lower case with underscores. If several columns of a file have
// names listed for Class, the name listed first wins.
var namesOf = map[Meaning][]string{
	Class: {"label", "class", "y", "labels", "classes", "target", "node_label", "node_labels", "node_class",
		"class_label", "ground_truth", "y_true"},
	TrainMask:      {"train_mask", "train_masks"},
	ValidationMask: {"val_mask", "validation_mask", "valid_mask", "val_masks", "valid_masks"},
	TestMask:       {"test_mask", "test_masks"},
	id:             {"id", "node_id", "nodeid", "ids", "node_ids", "name", "names", "node_name", "node_names", "uuid"},
	rowNumber:      {"", "index", "row", "row_id", "row_number", "rownames", "level_0", "__index_level_0__"},
	weight:         {"weight", "weights", "sample_weight", "node_weight"},
	part: {"split", "fold", "set", "subset", "partition", "train_idx", "val_idx", "valid_idx", "test_idx", "idx_train",
		"idx_val", "idx_test", "is_train", "is_val", "is_test"},
}

var why = map[Meaning]string{Class: "another class", TrainMask: "a mask", ValidationMask: "a mask", TestMask: "a mask",
	otherMask: "a mask", id: "an id", rowNumber: "a row number", weight: "a weight", part: "a split"}

// MeaningOf returns the meaning of a column name, ignoring case and an index such as "[2]".
func MeaningOf(name string) Meaning {
	name = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	if list, _, is := strings.Cut(name, "["); is && strings.HasSuffix(name, "]") {
		name = list
	}
	for meaning, names := range namesOf {
		if slices.Contains(names, name) {
			return meaning
		}
	}
	switch {
	case strings.HasSuffix(name, "_mask"), strings.HasSuffix(name, "_masks"), strings.Contains(name, "_mask_"):
		return otherMask
	case strings.HasPrefix(name, "unnamed:_"): // pandas' name for row numbers
		return rowNumber
	}
	return Feature
}

// LeftOut returns a note that a column was left out because of its name. class is the name of the class column, if any.
func (m Meaning) LeftOut(column, class string) string {
	note := fmt.Sprintf("%s: left out: by its name it is %s and no feature", column, why[m])
	if m == Class && class != "" {
		return fmt.Sprintf("%s: left out: the class is %.80q, and a second one would tell it", column, class)
	}
	return note
}

// Set returns the set that a mask marks: 0 train, 1 validation, 2 test; -1 if m is no mask.
func (m Meaning) Set() int {
	if m < TrainMask || m > TestMask {
		return -1
	}
	return int(m - TrainMask)
}
