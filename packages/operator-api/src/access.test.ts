import { expect, test } from "vitest";
import { isReading } from "./access.ts";
import { type OperatorRouteName, operatorRoutes } from "./operator-routes.ts";

test("the name of a route tells whether it only reads", () => {
  for (const name of Object.keys(operatorRoutes) as OperatorRouteName[])
    expect({ name, isReading: isReading(name) }).toEqual({ name, isReading: operatorRoutes[name].method === "GET" });
});
