package report

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/plots"
)

func effectOr(v Verdict) string {
	if v.Effect == nil {
		return string(v.Grade)
	}
	return intervalText(*v.Effect, 2)
}

// Advice returns the table of masking's gains where all arms are tuned. The balanced comparison takes precedence.
func (e *Evidence) Advice() plots.Table {
	var added []string // in either comparison
	for _, id := range []string{balancedID, tunedID} {
		for _, arm := range e.tuned(id).added() {
			if !slices.Contains(added, arm) {
				added = append(added, arm)
			}
		}
	}
	t := plots.Table{ID: "advice", Title: "What masking gains where every arm is tuned alike",
		TextColumns: 2, Sections: true,
		Header: []string{"model", "nodes", "advice", "on", "against none", "cells", "p chosen"}, Under: []int{3, 5, 6},
		Caption: "Points of macro F1 by which masking, with p tuned by validation F1, is above another arm tuned alike, with a " +
			"95 % interval over twenty fresh splits, pooled over cells (data and size); in how many of them it is " +
			"significantly up and down; and the p chosen most often. " + chosenByThree}
	for _, other := range tunedOthers() {
		t.Header = append(t.Header, "against "+other.name)
	}
	if len(added) > 0 {
		t.Blocks = []int{len(t.Header)}
	}
	for _, arm := range added {
		name, _, _ := strings.Cut(arm, ",")
		t.Header = append(t.Header, "against "+name+"†")
	}
	advised := map[string]bool{}
	for _, id := range []string{balancedID, tunedID} {
		c := e.tuned(id)
		for _, model := range c.Models {
			title, on := strings.Replace(model.Title(), " (exploratory)", "†", 1), c.on(judge.ArmPlain, model)
			if id == tunedID && model.Name == "gin" {
				title += " with one linear layer, not normalised"
			}
			if on == "" || advised[title] {
				continue
			}
			advised[title] = true
			for _, setting := range datasets.Settings() {
				v := e.judgeTuned(id, judge.ArmPlain, setting, model)
				if v.Effect == nil {
					continue
				}
				cells := fmt.Sprintf("up in %d of %d, down in %d", v.Holds, v.Of, v.Against)
				texts := []string{title, nodesOf(setting), e.advice(id, setting, model), on, effectOr(v), cells,
					"p = " + c.keepRates(setting, model)}
				for _, other := range tunedOthers() {
					texts = append(texts, effectOr(e.judgeTuned(id, other.arm, setting, model)))
				}
				for _, arm := range added {
					texts = append(texts, effectOr(e.judgeTuned(id, arm, setting, model)))
				}
				t.Rows = append(t.Rows, plots.Fields(texts...))
			}
		}
	}
	if strings.Contains(fmt.Sprint(t.Header, t.Rows), "†") {
		t.Caption += " †: added later, exploratory; an arm so marked has not run on all data."
	}
	return t
}

func (e *Evidence) advice(id string, setting datasets.Setting, model judge.TunedModel) string {
	if e.judgeTuned(id, judge.ArmPlain, setting, model).Effect.Low <= 0 {
		return "expect no gain"
	}
	advice := "worth a try"
	for _, other := range tunedOthers() {
		if v := e.judgeTuned(id, other.arm, setting, model); v.Effect != nil && v.Effect.High < 0 {
			advice = "try " + other.name + " first"
		}
	}
	return advice
}
