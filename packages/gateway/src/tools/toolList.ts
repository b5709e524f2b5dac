import { isObject } from '@behalf/kernel';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { IncompleteReason, ItemList } from '../upstream/listAll.ts';
import type { JsonObject, Log } from '../upstream/upstream.ts';
import { type Mirror, readMirror } from './mirrorHeaders.ts';
import { assignToolNames } from './names.ts';

/** A tool as its server describes it. All fields are untrusted input. */
export interface CatalogTool {
  readonly name: string;
  /** The name in model APIs. Unique for one caller. */
  readonly publicName: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
  readonly annotations: JsonObject | undefined;
  readonly _meta: JsonObject | undefined;
  /** The definition as received. The MCP adapter forwards it. */
  readonly definition: JsonObject;
  /** Writes the headers that repeat arguments, if the tool declares any. */
  readonly mirror: Mirror | undefined;
}

/** The tools of one server for one owner. Frozen. Owners with equal lists share one object. */
export interface ToolList {
  readonly tools: readonly CatalogTool[];
  readonly complete: boolean;
  readonly incomplete: IncompleteReason | undefined;
  /** The server's instructions, if the operator forwards them. */
  readonly instructions: string | undefined;
  find(name: string): CatalogTool | undefined;
  findPublic(publicName: string): CatalogTool | undefined;
}

/** Clients send tool definitions to the model with every message, so the gateway drops larger definitions. */
const MAX_TOOL_LENGTH = 256 * 1024;
const MAX_TOOL_NAME_LENGTH = 256;
/** Bounds the log lines of one listing: a list can have a thousand invalid tools. */
const MAX_LOGGED_DROPS = 20;

export function buildToolList(
  { id: serverId, settings: { normalizedName } }: Pick<ServerSnapshot, 'id' | 'settings'>,
  { items, complete, incomplete, era, instructions }: ItemList,
  log: Log,
): ToolList {
  const accepted = new Map<string, AcceptedTool>();
  let droppedCount = 0;
  for (const definition of items) {
    const { name } = definition;
    const defect = findDefect(definition, accepted);
    const mirror = era === 'modern' && defect === undefined ? readMirror(schemaOf(definition)) : noMirror;
    const reason = defect ?? (mirror.ok ? undefined : `x-mcp-header, ${mirror.reason}`);
    if (reason === undefined) {
      accepted.set(name as string, { definition, mirror: mirror.ok ? mirror.mirror : undefined });
      continue;
    }
    droppedCount += 1;
    if (droppedCount > MAX_LOGGED_DROPS) continue;
    const tool = typeof name === 'string' ? toSingleLine(name, MAX_TOOL_NAME_LENGTH) : '';
    log('tool_dropped', { server: serverId, tool, reason: toSingleLine(reason, MAX_TOOL_NAME_LENGTH) });
  }
  if (droppedCount > MAX_LOGGED_DROPS) log('tools_dropped', { server: serverId, count: droppedCount });
  const identities = [...accepted].map(([toolName, tool]) => ({
    ...{ serverId, serverName: normalizedName, toolName },
    ...tool,
  }));
  const byPublicName = new Map<string, CatalogTool>();
  const byName = new Map<string, CatalogTool>();
  for (const [publicName, { toolName, definition, mirror }] of assignToolNames(identities)) {
    const tool = createTool(definition, toolName, publicName, mirror);
    byPublicName.set(publicName, tool);
    byName.set(toolName, tool);
  }
  return Object.freeze({
    tools: Object.freeze([...accepted.keys()].flatMap((name) => byName.get(name) ?? [])),
    complete,
    incomplete,
    instructions,
    find: (name: string) => byName.get(name),
    findPublic: (publicName: string) => byPublicName.get(publicName),
  });
}

interface AcceptedTool {
  readonly definition: JsonObject;
  readonly mirror: Mirror | undefined;
}

const noMirror = { ok: true, mirror: undefined } as const;

function findDefect(definition: JsonObject, accepted: ReadonlyMap<string, unknown>): string | undefined {
  const { name } = definition;
  if (typeof name !== 'string' || name === '' || name.length > MAX_TOOL_NAME_LENGTH) return 'invalid name';
  if (accepted.has(name)) return 'listed twice';
  if (JSON.stringify(definition).length > MAX_TOOL_LENGTH) return 'larger than 256 KiB';
  return undefined;
}

function createTool(
  definition: JsonObject,
  name: string,
  publicName: string,
  mirror: Mirror | undefined,
): CatalogTool {
  const { title, description, outputSchema, annotations, _meta } = definition;
  return Object.freeze({
    name,
    publicName,
    title: typeof title === 'string' ? title : undefined,
    description: typeof description === 'string' ? description : undefined,
    inputSchema: deepFreeze(schemaOf(definition)),
    outputSchema: asObject(outputSchema),
    annotations: asObject(annotations),
    _meta: asObject(_meta),
    definition: deepFreeze(definition),
    mirror,
  });
}

function schemaOf({ inputSchema }: JsonObject): JsonObject {
  return asObject(inputSchema) ?? { type: 'object' };
}

function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** Untrusted text for one line of a log or a message: a server must not be able to add lines. */
export function toSingleLine(text: string, maxLength: number): string {
  const line = text.slice(0, maxLength + 1).replaceAll(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ');
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

function deepFreeze<T extends object>(value: T): T {
  const pending: object[] = [value];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next) as unknown[])
      if (typeof member === 'object' && member !== null) pending.push(member);
  }
  return value;
}
