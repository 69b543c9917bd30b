package main

import (
	"fmt"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
)

// freeOfCost tells, once, that a limit of cost cannot hold, since the model that
// answers has no price.
func (a *app) freeOfCost(answers skein.Agent, s skein.Settings) {
	name := s.InForce(answers, a.modelName()).Model.Name
	c, err := a.catalog()
	if err != nil || answers.Limits.Cost == 0 || a.warned.once("cost "+name) {
		return // what is wrong with the catalog is told elsewhere
	}
	if rules, err := c.table.Rules(name); err == nil && rules.Prices == (model.Prices{}) {
		a.warn(fmt.Sprintf("the limit of cost of %s does not hold: %s has no price; --models FILE gives it one", answers.Name, name))
	}
}
