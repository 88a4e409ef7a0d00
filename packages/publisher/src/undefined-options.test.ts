import { expect, expectTypeOf, test } from "vitest";
import type * as companion from "./companion.ts";
import { createAds } from "./create-ads.ts";
import { createCompanion } from "./create-companion.ts";
import type * as grammy from "./grammy.ts";
import type * as node from "./node.ts";
import type * as publisher from "./publisher.ts";
import type * as stores from "./stores.ts";
import type * as testing from "./testing.ts";

type AnyFunction = (...values: never[]) => unknown;
/** Arguments that are not this package's: their types are those of the platform and of other packages. */
type Foreign =
  | AnyFunction
  | readonly unknown[]
  | Uint8Array
  | ArrayBuffer
  | Date
  | AbortSignal
  | Request
  | RequestInit
  | URL;

/** The names of properties that may be left out and yet refuse `undefined`, also in objects inside. */
type Refusing<Options> = Options extends Foreign
  ? never
  : Options extends object
    ? {
        [Name in keyof Options & string]-?:
          | (object extends Pick<Options, Name> ? (undefined extends Required<Options>[Name] ? never : Name) : never)
          | (Required<Options>[Name] extends infer Inner
              ? Inner extends Foreign
                ? never
                : Inner extends object
                  ? {
                      [Deep in keyof Inner & string]-?: object extends Pick<Inner, Deep>
                        ? undefined extends Required<Inner>[Deep]
                          ? never
                          : `${Name}.${Deep}`
                        : never;
                    }[keyof Inner & string]
                  : never
              : never);
      }[keyof Options & string]
    : never;

type OfArguments<Value> = Value extends (...values: infer Values) => unknown ? Refusing<Values[number]> : never;
/** A function that is returned is called by a framework. */
type OfMethods<Made> = Made extends Foreign
  ? never
  : Made extends object
    ? { [Name in keyof Made & string]: `${Name}: ${OfArguments<Made[Name]>}` }[keyof Made & string]
    : never;
type OfExport<Value> = Value extends (...values: never[]) => infer Made
  ? OfArguments<Value> | `it returns ${OfMethods<Awaited<Made>>}`
  : never;
/** Derived from what the modules export: an option that is added is in it. */
type OfModule<Module> = { [Name in keyof Module & string]: `${Name}: ${OfExport<Module[Name]>}` }[keyof Module &
  string];

test("every option takes undefined, as a setting that may not be there has it under exactOptionalPropertyTypes", () => {
  expectTypeOf<OfModule<typeof publisher>>().toBeNever();
  expectTypeOf<OfModule<typeof companion>>().toBeNever();
  expectTypeOf<OfModule<typeof grammy>>().toBeNever();
  expectTypeOf<OfModule<typeof node>>().toBeNever();
  expectTypeOf<OfModule<typeof stores>>().toBeNever();
  expectTypeOf<OfModule<typeof testing>>().toBeNever();
});

test("a client takes variables of the environment as they are, and names the one that is not set", () => {
  const { UNSET_URL: url, UNSET_TOKEN: token, UNSET_BOT_ID: botId, UNSET_KEY: apiKey } = process.env;
  const set = { url: "https://ads.example.com", token: "ad_test", botId: "7000000001" };
  expect(() => createAds({ ...set, token })).toThrow("token (AD_API_TOKEN) is missing");
  expect(() => createAds({ ...set, token: [token, token] })).toThrow("token (AD_API_TOKEN) is missing");
  expect(() => createAds({ ...set, url })).toThrow("url (AD_SERVICE_URL) is missing");
  expect(() => createAds({ ...set, botId })).toThrow("botId (BOT_ID) is missing");
  expect(() => createCompanion({ url: set.url, apiKey })).toThrow("apiKey (BACKEND_API_KEY) is missing");
});

test("the check of options finds one that refuses undefined, also in an object inside and in a method's arguments", () => {
  type Planted = {
    make(options: { known?: string | undefined; planted?: string; inside?: { deep?: number } | undefined }): {
      call(query?: { late?: Date }): void;
    };
  };
  expectTypeOf<OfModule<Planted>>().toEqualTypeOf<
    "make: planted" | "make: inside.deep" | "make: it returns call: late"
  >();
});
