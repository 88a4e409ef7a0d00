import { expect, test } from "vitest";
import { type Access, accessOf, isReading } from "./access.ts";
import { type OperatorRouteName, operatorRoutes } from "./operator-routes.ts";

test("each route has a rule, and each rule a route", () => {
  const rules: Record<OperatorRouteName, Access> = accessOf;
  expect(Object.keys(rules).toSorted()).toEqual(Object.keys(operatorRoutes).toSorted());
});

test("the name of a route tells whether it only reads", () => {
  for (const name of Object.keys(operatorRoutes) as OperatorRouteName[])
    expect({ name, isReading: isReading(name) }).toEqual({ name, isReading: operatorRoutes[name].method === "GET" });
});
