import { createHash } from 'node:crypto';
import type { Clock } from '@behalf/kernel';
import { createListStore } from '../../tools/listStore.ts';
import { type CompiledSchema, type RunMetered, compileSchema } from './compileSchema.ts';
import { type UncheckableReason, UncheckableSchemaError } from './costBudget.ts';

/** After this many validations over the cost limit, the schema is not used again: each blocks the event loop. */
const MAX_COSTLY_CHECKS = 3;
/** Limit of the tools for which an entry has logged that it is not checked. */
const MAX_LOGGED_TOOLS = 100;
const MAX_EVICTIONS = 20;
/** Schemas that cannot be checked. Cheap to store, and finding out again takes compile time. */
const MAX_UNCHECKED_SCHEMAS = 5_000;

/** A schema of a server. Eviction drops the compiled code, and the next use compiles again. */
export interface SchemaEntry {
  readonly server: string;
  readonly content: string;
  state: CompiledSchema | UncheckableReason | undefined;
  isUsed: boolean;
  costlyChecks: number;
  readonly loggedTools: Set<string>;
}

/** A schema that was compiled or found uncheckable. */
type ResolvedSchema = SchemaEntry & { readonly state: CompiledSchema | UncheckableReason };

interface SchemaCache {
  /** Compiles at the first use. Undefined if the server has used up its compile time. */
  find(server: string, schema: object): ResolvedSchema | undefined;
  recordCostlyCheck(entry: SchemaEntry): void;
  /** True the first time for this tool. */
  shouldLog(entry: SchemaEntry, tool: string): boolean;
}

interface SchemaCacheLimits {
  /** Compiled schemas of all servers. Equal schemas of several servers count once. */
  readonly maxSchemas: number;
  readonly maxPerServer: number;
}

/**
 * Caches compiled schemas by object identity, and by content for equal schemas of other lists. The eviction rule is that of
 * `createListStore`: a server with many schemas evicts only its own.
 */
export function createSchemaCache(
  timeBudget: CompileTimeBudget,
  { maxSchemas, maxPerServer }: SchemaCacheLimits,
): SchemaCache {
  const byObject = new WeakMap<object, SchemaEntry>();
  const store = createListStore<SchemaEntry>({ listsPerServer: maxPerServer }, (entry) => {
    entry.state = undefined;
    releaseShared(entry);
  });
  const uncheckedEntries = new Map<string, SchemaEntry>();
  /** Compiled code of equal schemas, with the number of entries that use it. */
  const sharedSchemas = new Map<string, { readonly compiled: CompiledSchema; refCount: number }>();

  function compile(server: string, schema: object): SchemaEntry | undefined {
    const runMetered = timeBudget.meterFor(server);
    let entry: SchemaEntry | undefined;
    try {
      const content = runMetered(() => createHash('sha256').update(JSON.stringify(schema)).digest('base64'));
      entry = store.get(server, content) ?? uncheckedEntries.get(keyOf(server, content));
      if (entry) return entry;
      const previous = byObject.get(schema);
      entry = previous?.server === server ? previous : createEntry(server, content);
      const compiled = sharedSchemas.get(content)?.compiled ?? compileSchema(schema, runMetered);
      entry.state = compiled;
      storeCompiled(entry, compiled);
    } catch (error) {
      const reason = error instanceof UncheckableSchemaError ? error.reason : 'not_compilable';
      if (reason === 'compiler_busy') return undefined;
      entry ??= createEntry(server, '');
      markUnchecked(entry, reason);
    }
    return entry;
  }

  function storeCompiled(entry: SchemaEntry, compiled: CompiledSchema): void {
    store.makeRoom(entry.server, 0);
    const known = sharedSchemas.get(entry.content);
    if (known) known.refCount += 1;
    else {
      // Evicting an entry with shared code frees nothing, so several evictions can be necessary.
      for (let attempt = 0; sharedSchemas.size >= maxSchemas && attempt < MAX_EVICTIONS; attempt += 1)
        store.evictOne();
      sharedSchemas.set(entry.content, { compiled, refCount: 1 });
    }
    store.set(entry.server, entry.content, entry);
  }

  function releaseShared({ content }: SchemaEntry): void {
    const sharedSchema = sharedSchemas.get(content);
    if (!sharedSchema) return;
    sharedSchema.refCount -= 1;
    if (sharedSchema.refCount === 0) sharedSchemas.delete(content);
  }

  function markUnchecked(entry: SchemaEntry, reason: UncheckableReason): void {
    entry.state = reason;
    if (store.delete(entry.server, entry.content)) releaseShared(entry);
    const [oldest] = uncheckedEntries.keys();
    if (oldest !== undefined && uncheckedEntries.size >= MAX_UNCHECKED_SCHEMAS)
      uncheckedEntries.delete(oldest);
    uncheckedEntries.set(keyOf(entry.server, entry.content), entry);
  }

  return {
    find(server, schema) {
      const known = byObject.get(schema);
      if (known?.server === server && isResolved(known)) {
        known.isUsed = true;
        return known;
      }
      // Without compile time, skip the hash too: it would be computed at every call.
      const entry = timeBudget.hasTime(server) ? compile(server, schema) : undefined;
      if (!entry || !isResolved(entry)) return undefined;
      byObject.set(schema, entry);
      return entry;
    },
    recordCostlyCheck(entry) {
      entry.costlyChecks += 1;
      if (entry.costlyChecks >= MAX_COSTLY_CHECKS) markUnchecked(entry, 'too_costly');
    },
    shouldLog(entry, tool) {
      if (entry.loggedTools.has(tool) || entry.loggedTools.size >= MAX_LOGGED_TOOLS) return false;
      entry.loggedTools.add(tool);
      return true;
    },
  };
}

function createEntry(server: string, content: string): SchemaEntry {
  return { server, content, state: undefined, isUsed: false, costlyChecks: 0, loggedTools: new Set() };
}

function isResolved(entry: SchemaEntry): entry is ResolvedSchema {
  return entry.state !== undefined;
}

function keyOf(server: string, content: string): string {
  return JSON.stringify([server, content]);
}

const WINDOW_MS = 60_000;
/** Compile time per window: of one server, and of all servers. */
const MAX_SERVER_MS = 1_000;
const MAX_TOTAL_MS = 10_000;
/** Limit of the tracked servers. The oldest is dropped with its usage. */
const MAX_SERVERS = 1_000;

interface CompileTimeBudget {
  /** False if the server, or all servers together, have used up their time. */
  hasTime(server: string): boolean;
  /** Charges work to the server. The work throws `UncheckableSchemaError` if no time is left. */
  meterFor(server: string): RunMetered;
  /** True once per server and window. */
  shouldLog(server: string): boolean;
}

interface TimeUsage {
  since: number;
  ms: number;
  isLogged: boolean;
}

/**
 * Limits the time that compiling blocks the event loop. A server can send new schemas with every list. When its time is used up, its
 * schemas are not checked until the next window, and its tools stay usable.
 */
export function createCompileTimeBudget(clock: Clock): CompileTimeBudget {
  const byServer = new Map<string, TimeUsage>();
  const totalUsage: TimeUsage = { since: clock.now(), ms: 0, isLogged: false };

  function resetExpiredWindow(usage: TimeUsage): TimeUsage {
    const now = clock.now();
    // A clock that was set back must not extend the window.
    if (now - usage.since >= WINDOW_MS || now < usage.since) {
      usage.since = now;
      usage.ms = 0;
      usage.isLogged = false;
    }
    return usage;
  }

  function getUsage(server: string): TimeUsage {
    const existing = byServer.get(server);
    if (existing) return resetExpiredWindow(existing);
    const [oldest] = byServer.keys();
    if (oldest !== undefined && byServer.size >= MAX_SERVERS) byServer.delete(oldest);
    const usage = { since: clock.now(), ms: 0, isLogged: false };
    byServer.set(server, usage);
    return usage;
  }

  const hasTime = (server: string) =>
    getUsage(server).ms < MAX_SERVER_MS && resetExpiredWindow(totalUsage).ms < MAX_TOTAL_MS;

  return {
    hasTime,
    meterFor: (server) => (work) => {
      if (!hasTime(server)) throw new UncheckableSchemaError('compiler_busy');
      const startedAt = clock.now();
      try {
        return work();
      } finally {
        const elapsedMs = Math.max(0, clock.now() - startedAt);
        getUsage(server).ms += elapsedMs;
        resetExpiredWindow(totalUsage).ms += elapsedMs;
      }
    },
    shouldLog(server) {
      const usage = getUsage(server);
      const isFirst = !usage.isLogged;
      usage.isLogged = true;
      return isFirst;
    },
  };
}
