import { csvOf } from "@intermission/operator-api/csv";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { type OperatorRouteName, operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { OperatorRoute } from "@intermission/operator-api/route";
import type { Command } from "commander";
import type { z } from "zod";
import { withExamples } from "./command-line.ts";
import { confirmable } from "./command-options.ts";
import { type Columns, cellsOf, printedCsv, type Row, recordOf, tableOf, withAmounts } from "./command-tables.ts";
import { callWithKey, keyed } from "./keyed-command.ts";
import type { CommandContext, OperatorCall } from "./operator-client.ts";
import { addArgument, addOption, exampleOf, type FieldWords, fieldsOf, type RouteField } from "./route-fields.ts";

type Routes = typeof operatorRoutes;

/** An answer as its JSON has it: moments are text. A server of another version may leave fields out or add some. */
export type WireAnswer<Name extends OperatorRouteName> = z.input<Routes[Name]["answer"]>;

type Part<Route, Place extends string> =
  Route extends Readonly<Record<Place, infer Schema extends z.ZodType>> ? z.input<Schema> : Record<never, never>;
type NestedKeys<Value> = {
  [Key in keyof Value]-?: NonNullable<Value[Key]> extends readonly unknown[]
    ? never
    : string extends keyof NonNullable<Value[Key]>
      ? never
      : NonNullable<Value[Key]> extends object
        ? keyof NonNullable<Value[Key]> & string
        : never;
}[keyof Value];
type Body<Name extends OperatorRouteName> = Part<Routes[Name], "body">;
type FieldName<Name extends OperatorRouteName> =
  | (keyof Part<Routes[Name], "params"> & string)
  | (keyof Part<Routes[Name], "query"> & string)
  | (keyof Body<Name> & string)
  | NestedKeys<Body<Name>>;

/** The parts of a request, as a command's words give them. */
export interface CommandInput {
  readonly params: Record<string, string>;
  readonly query: Record<string, string | undefined>;
  readonly body: Record<string, unknown>;
}

/** Adds what a verb has to its command: arguments, options, help and action. */
export type Verb = (command: Command, context: CommandContext) => void;

export interface RequestOfCommand<Name extends OperatorRouteName> {
  /** For the help. */
  readonly description: string;
  /** What follows the command's name; without them, one of its arguments. */
  readonly examples?: readonly string[];
  /** In order; without them, the parameters of the path that are no options. */
  readonly arguments?: readonly FieldName<Name>[];
  /** Words of fields, where those of the schema do not do. A parameter of the path that is named here is an option. */
  readonly options?: { readonly [Field in FieldName<Name>]?: FieldWords };
  /** Fields that the command does not take. */
  readonly without?: readonly FieldName<Name>[];
  /** Values that belong to the command. */
  readonly fixed?: Partial<CommandInput>;
  /** Adds what the words alone do not say. */
  readonly prepare?: (input: CommandInput, context: CommandContext) => CommandInput | Promise<CommandInput>;
}

interface RouteCommand<Name extends OperatorRouteName> extends RequestOfCommand<Name> {
  /** What people see instead of all fields of the answer. */
  readonly shown?: (answer: WireAnswer<Name>) => object;
  /** Below it. */
  readonly note?: (answer: WireAnswer<Name>, input: CommandInput) => string | undefined;
  /** All that people see. */
  readonly text?: (answer: WireAnswer<Name>, input: CommandInput) => string;
  /** After the answer was printed. */
  readonly finish?: (answer: WireAnswer<Name>) => void;
}

type ListKey<Name extends OperatorRouteName> = {
  [Key in keyof WireAnswer<Name>]-?: WireAnswer<Name>[Key] extends readonly object[] ? Key & string : never;
}[keyof WireAnswer<Name>];
type RowOf<
  Name extends OperatorRouteName,
  Key extends keyof WireAnswer<Name>,
> = WireAnswer<Name>[Key] extends readonly (infer One)[] ? One : never;

interface ListOutput<Name extends OperatorRouteName, One> {
  readonly columns: Columns<One> | ((answer: WireAnswer<Name>) => Columns<One>);
  /** Where `--json` prints the whole answer, and not its rows alone. */
  readonly isPageInJson?: true;
  /** Instead of the table alone. */
  readonly text?: (rows: readonly One[], answer: WireAnswer<Name>, table: string) => string;
  /** Where the next page begins, if the answer does not say it as `next`. */
  readonly nextOf?: (answer: WireAnswer<Name>) => string | null | undefined;
  /** The option that goes on there, where it is not `--before` if there is one. */
  readonly cursor?: "before" | "after";
}

type RouteList<Name extends OperatorRouteName, One> = RequestOfCommand<Name> & ListOutput<Name, One>;

/** A subject of the command line with its verbs, in order. */
export function subject(name: string, description: string, verbs: Readonly<Record<string, Verb>>) {
  return (program: Command, context: CommandContext): void => {
    const command = program.command(name).description(description);
    for (const [verb, add] of Object.entries(verbs)) add(command.command(verb), context);
  };
}

/** A verb that calls a route, and prints its answer. */
export function verb<Name extends OperatorRouteName>(name: Name, of: RouteCommand<Name>): Verb {
  return (command, context) => {
    const readInput = addInput(command, operatorRoutes[name], of);
    const isKeyed = readInput.isKeyed;
    command.action(async () => {
      const input = await readInput(context);
      const call = (body: CommandInput["body"]) => callOf(name, { ...input, body });
      const { idempotencyKey } = command.opts<{ idempotencyKey?: string }>();
      const answer = (
        isKeyed
          ? await callWithKey(context, { idempotencyKey }, (key) => call({ ...input.body, idempotencyKey: key }))
          : await context.call(call(input.body))
      ) as WireAnswer<Name>;
      context.print(answer, () => of.text?.(answer, input) ?? textOfAnswer(answer, of, input));
      of.finish?.(answer);
    });
  };
}

/** A verb that writes the text that a route answers, as it arrives. */
export function text<Name extends OperatorRouteName>(name: Name, of: RequestOfCommand<Name>): Verb {
  return (command, context) => {
    const readInput = addInput(command, operatorRoutes[name], of);
    command.action(async () => context.copy(await context.read(callOf(name, await readInput(context)))));
  };
}

function textOfAnswer<Name extends OperatorRouteName>(
  answer: WireAnswer<Name>,
  { shown, note }: RouteCommand<Name>,
  input: CommandInput,
): string {
  const below = note?.(answer, input);
  const record = recordText((shown?.(answer) ?? answer) as object);
  return below === undefined ? record : `${record}\n\n${below}`;
}

/** All fields of an answer; one with money as amounts, and only what is set. */
export function recordText(answer: object): string {
  const hasMoney = Object.keys(answer).some((name) => name.endsWith("Micros"));
  return recordOf(hasMoney ? withAmounts(answer as Row) : (answer as Row));
}

/** A verb that lists what a route answers below `key`: all of its pages, or where the list has no end the page that is named. */
export function list<Name extends OperatorRouteName, Key extends ListKey<Name>>(
  name: Name,
  key: Key,
  of: RouteList<Name, RowOf<Name, Key>>,
): Verb {
  const route: OperatorRoute = operatorRoutes[name];
  const fields = fieldsOf(route);
  const isWhole = fields.some(({ name, usual }) => name === "limit" && usual === MAX_LIMIT);
  const paging = isWhole ? ["after", "limit", "order"] : [];
  return (command, context) => {
    const readInput = addInput(command, route, of, paging);
    addCsv(command).action(async () =>
      printList(context, command, { name, key, input: await readInput(context), isWhole }, of),
    );
  };
}

const MAX_LIMIT = 1000;

/** The option that `printList` reads. */
export function addCsv(command: Command): Command {
  return command.option("--csv", "print the table as comma-separated values");
}

/** Reads a list and prints it: for commands that choose among routes. */
export async function printList<Name extends OperatorRouteName, Key extends ListKey<Name>>(
  context: CommandContext,
  command: Command,
  list: { name: Name; key: Key; input: CommandInput; isWhole?: boolean },
  of: ListOutput<Name, RowOf<Name, Key>>,
): Promise<void> {
  const isWhole = list.isWhole ?? false;
  const { rows, answer } = await readRows(context, { ...list, isWhole });
  printRows(context, command, { key: list.key, rows, answer, of, isWhole });
}

async function readRows<Name extends OperatorRouteName, Key extends keyof WireAnswer<Name> & string>(
  context: CommandContext,
  { name, key, input, isWhole }: { name: Name; key: Key; input: CommandInput; isWhole: boolean },
) {
  const rows: RowOf<Name, Key>[] = [];
  for (let after = input.query.after; ; ) {
    const answer = await callRoute(context, name, { ...input, query: { ...input.query, after } });
    rows.push(...(answer[key] as RowOf<Name, Key>[]));
    const { next } = answer as { next?: unknown };
    if (!isWhole || typeof next !== "string") return { rows, answer };
    after = next;
  }
}

function printRows<Name extends OperatorRouteName, One>(
  context: CommandContext,
  command: Command,
  {
    key,
    rows,
    answer,
    of,
    isWhole,
  }: { key: string; rows: readonly One[]; answer: WireAnswer<Name>; of: ListOutput<Name, One>; isWhole: boolean },
): void {
  const columns = typeof of.columns === "function" ? of.columns(answer) : of.columns;
  const next = isWhole ? undefined : (of.nextOf ?? ((page: { next?: string | null }) => page.next))(answer as never);
  const cursor = of.cursor ?? (command.options.some(({ long }) => long === "--before") ? "before" : "after");
  const more = typeof next === "string" ? `\n\nThere are more: --${cursor} ${next}` : "";
  context.print(of.isPageInJson ? { ...(answer as object), [key]: rows } : rows, () => {
    if (command.opts().csv === true) {
      // Beside the file, which is to have rows only.
      if (more !== "") process.stderr.write(`${more.trim()}\n`);
      return printedCsv(csvOf([Object.keys(columns), ...rows.map((row) => cellsOf(row, columns))]));
    }
    const table = tableOf(rows, columns);
    return `${of.text?.(rows, answer, table) ?? table}${more}`;
  });
}

/** The body may be the stream of a file. */
type CallInput = Partial<Omit<CommandInput, "body">> & { readonly body?: object };

/** Calls a route with the parts of a request, and returns its answer by its schema. */
export async function callRoute<Name extends OperatorRouteName>(
  context: CommandContext,
  name: Name,
  input: CallInput = {},
): Promise<WireAnswer<Name>> {
  return (await context.call(callOf(name, input))) as WireAnswer<Name>;
}

/** The request to a route, for what is called in another way than `callRoute`. */
export function callOf(name: OperatorRouteName, { params = {}, query = {}, body = {} }: CallInput): OperatorCall {
  const hasBody = (operatorRoutes[name] as OperatorRoute).body !== undefined;
  // The server checks the request; which route it is of is known only when the command runs.
  return operatorRequest(name as "updateBot", { params: params as { botId: string }, query, ...(hasBody && { body }) });
}

/** Adds arguments, options, description and examples of a request to a command. Returns what reads them, when it runs. */
export function addInput<Name extends OperatorRouteName>(
  command: Command,
  route: OperatorRoute,
  of: RequestOfCommand<Name>,
  paging: readonly string[] = [],
) {
  const options: Readonly<Record<string, FieldWords | undefined>> = of.options ?? {};
  const without: readonly string[] = of.without ?? [];
  const all = fieldsOf(route).filter(({ name, parent }) => !without.includes(name) && !without.includes(parent ?? ""));
  const has = (name: string) => all.some((field) => field.name === name);
  const named = of.arguments as readonly string[] | undefined;
  const positional =
    named ?? all.filter(({ name, place }) => place === "params" && !(name in options)).map(({ name }) => name);
  const fixed = [of.fixed?.params, of.fixed?.query, of.fixed?.body].flatMap((part) => Object.keys(part ?? {}));
  const left = new Set<string>([...positional, ...paging, ...fixed, ...byTheirKind]);
  const worded = Object.keys(options).flatMap((name) => all.find((field) => field.name === name) ?? []);
  const others = all.filter((field) => !worded.includes(field));
  const inOrder = positional
    .filter((name) => !fixed.includes(name))
    .flatMap((name) => all.find((field) => field.name === name) ?? []);

  command.description(of.description);
  for (const field of inOrder) addArgument(command, field, options[field.name]);
  const readers = [...worded, ...others]
    .filter(({ name }) => !left.has(name))
    .map((field) => ({ field, read: addOption(command, field, options[field.name]) }));
  if (has("confirmed")) confirmable(command);
  if (has("idempotencyKey")) keyed(command);
  const example = inOrder.map((field) => exampleOf(field, options[field.name])).join(" ");
  withExamples(
    command,
    (of.examples ?? [example]).map((words) => `${nameOf(command)} ${words}`.trim()),
  );

  const readInput = async (context: CommandContext): Promise<CommandInput> => {
    const values = [
      ...inOrder.map((field, index) => ({ field, value: command.processedArgs[index] as unknown })),
      ...readers.map(({ field, read }) => ({ field, value: read(command.opts()) })),
      ...all.filter(({ name }) => name === "confirmed").map((field) => ({ field, value: command.opts().yes })),
    ];
    const input = inputOf(values, of.fixed);
    return of.prepare === undefined ? input : of.prepare(input, context);
  };
  return Object.assign(readInput, { isKeyed: has("idempotencyKey") });
}

/** Fields that have an option of the same name and words in every command, or none in any. */
const byTheirKind = ["confirmed", "idempotencyKey", "expectedUpdatedAt"];

function inputOf(
  values: readonly { field: RouteField; value: unknown }[],
  fixed: Partial<CommandInput> = {},
): CommandInput {
  const input: CommandInput = { params: { ...fixed.params }, query: { ...fixed.query }, body: { ...fixed.body } };
  for (const { field, value } of values) {
    if (value === undefined) continue;
    if (field.place !== "body")
      input[field.place][field.name] = value instanceof Date ? value.toISOString() : String(value);
    else if (field.parent === undefined) input.body[field.name] = value;
    else input.body[field.parent] = { ...(input.body[field.parent] as object), [field.name]: value };
  }
  return input;
}

/** `bots add`, without the program. */
function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
