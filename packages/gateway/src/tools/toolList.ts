import type { ServerSnapshot } from '../servers/definition.ts';
import { toSingleLine } from '../toolcall/shapeResult.ts';
import type { IncompleteReason, ItemList } from '../upstream/listAll.ts';
import type { JsonObject, Log } from '../upstream/upstream.ts';
import { type Mirror, readMirror } from './mirrorHeaders.ts';
import { type NamedIdentity, assignToolNames } from './names.ts';

/** One tool as its server describes it. The server chose every word: nothing here is to be trusted. */
export interface CatalogTool {
  readonly name: string;
  /** The name towards models; the identity is the server and `name`. */
  readonly publicName: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
  readonly annotations: JsonObject | undefined;
  readonly _meta: JsonObject | undefined;
  /** The whole as it came, for doors that pass it on. */
  readonly definition: JsonObject;
  /** The headers that repeat arguments, when the tool asks for any. */
  readonly mirror: Mirror | undefined;
}

/** The tools of one server as one holder sees them. Frozen, and the same object for all who see the same. */
export interface ToolList {
  readonly tools: readonly CatalogTool[];
  readonly complete: boolean;
  readonly incomplete: IncompleteReason | undefined;
  /** What the server says of itself, where the operator passes that on. */
  readonly instructions: string | undefined;
  find(name: string): CatalogTool | undefined;
  findPublic(publicName: string): CatalogTool | undefined;
}

/** A tool that says more than this is broken or means harm; it would be sent to a model with every message. */
const MAX_TOOL_LENGTH = 256 * 1024;
const MAX_TOOL_NAME_LENGTH = 256;
/** A list may hold a thousand of them, and is asked for again and again. */
const MAX_LOGGED_DROPS = 20;

export function buildToolList(
  { id: serverId, settings: { normalizedName } }: Pick<ServerSnapshot, 'id' | 'settings'>,
  { items, complete, incomplete, era, instructions }: ItemList,
  log: Log,
): ToolList {
  const accepted = new Map<string, { definition: JsonObject; mirror: Mirror | undefined }>();
  let droppedCount = 0;
  for (const definition of items) {
    const { name } = definition;
    const reason = findDefect(definition, accepted);
    const mirror = era === 'modern' && reason === undefined ? readMirror(schemaOf(definition)) : noMirror;
    if (reason === undefined && mirror.ok)
      accepted.set(name as string, { definition, mirror: mirror.mirror });
    else {
      droppedCount += 1;
      if (droppedCount > MAX_LOGGED_DROPS) continue;
      const dropReason = reason ?? (mirror.ok ? '' : `x-mcp-header, ${mirror.reason}`);
      const tool = typeof name === 'string' ? toSingleLine(name, MAX_TOOL_NAME_LENGTH) : '';
      log('tool_dropped', { server: serverId, tool, reason: toSingleLine(dropReason, MAX_TOOL_NAME_LENGTH) });
    }
  }
  if (droppedCount > MAX_LOGGED_DROPS) log('tools_dropped', { server: serverId, count: droppedCount });
  const identities = [...accepted.keys()].map((toolName): NamedIdentity => ({
    serverId,
    serverName: normalizedName,
    toolName,
  }));
  const byPublicName = new Map<string, CatalogTool>();
  const byName = new Map<string, CatalogTool>();
  for (const [publicName, { toolName }] of assignToolNames(identities)) {
    const { definition, mirror } = accepted.get(toolName) as {
      definition: JsonObject;
      mirror: Mirror | undefined;
    };
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
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
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
