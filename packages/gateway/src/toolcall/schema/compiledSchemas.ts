import { createHash } from 'node:crypto';
import { compileSchema, type CompiledSchema } from './compileSchema.ts';
import type { CompilerTime } from './compilerTime.ts';
import { Uncheckable, type UncheckableReason } from './uncheckable.ts';

/** After this many checks that cost too much, a schema is not tried again: each of them kept everybody waiting. */
const MOST_COSTLY_CHECKS = 3;
/** Who was told of a schema that is not checked. Lost with the entry: then they are told once more. */
const MOST_TOLD = 100;
const MOST_EVICTIONS = 20;
/** A verdict is a word and a hash; finding it anew would take the compiler's time. */
const MOST_VERDICTS = 5_000;

/** One schema of one server and what became of it. Evicting forgets what was compiled; the next use compiles again. */
export interface SchemaEntry {
  readonly server: string;
  readonly content: string;
  state: CompiledSchema | UncheckableReason | undefined;
  used: boolean;
  costly: number;
  readonly told: Set<string>;
}

/** One that has become something. */
export type KnownSchema = SchemaEntry & { readonly state: CompiledSchema | UncheckableReason };

export interface CompiledSchemas {
  /** Compiles on first use; undefined when the compiler has no time for this server now. */
  find(server: string, schema: object): KnownSchema | undefined;
  ranOut(entry: SchemaEntry): void;
  /** True the first time for this tool. */
  tell(entry: SchemaEntry, tool: string): boolean;
}

export interface CompiledSchemaLimits {
  /** Held compiled, of all servers together. Equal ones of several servers are one. */
  readonly most: number;
  readonly mostOfOne: number;
}

/**
 * Schemas compiled so far, found by the object and, for an equal one of another list, by its content. The longest
 * unused go first, of the server that has the most: one with ever new schemas takes nothing from the others. An entry
 * that was used since the last look gets a second chance, so that a use costs one store.
 */
export function createCompiledSchemas(
  time: CompilerTime,
  { most, mostOfOne }: CompiledSchemaLimits,
): CompiledSchemas {
  const byObject = new WeakMap<object, SchemaEntry>();
  const byServer = new Map<string, Map<string, SchemaEntry>>();
  const verdicts = new Map<string, SchemaEntry>();
  /** What equal schemas share, and how many entries do. */
  const copies = new Map<string, { readonly compiled: CompiledSchema; shared: number }>();

  function compile(server: string, schema: object): SchemaEntry | undefined {
    const spend = time.of(server);
    let entry: SchemaEntry | undefined;
    try {
      const content = spend(() => createHash('sha256').update(JSON.stringify(schema)).digest('base64'));
      entry = byServer.get(server)?.get(content) ?? verdicts.get(keyOf(server, content));
      if (entry) return entry;
      const before = byObject.get(schema);
      entry = before?.server === server ? before : emptyEntry(server, content);
      const compiled = copies.get(content)?.compiled ?? compileSchema(schema, spend);
      entry.state = compiled;
      keep(entry, compiled);
    } catch (error) {
      const reason = error instanceof Uncheckable ? error.reason : 'not_compilable';
      if (reason === 'compiler_busy') return undefined;
      entry ??= emptyEntry(server, '');
      judge(entry, reason);
    }
    return entry;
  }

  function keep(entry: SchemaEntry, compiled: CompiledSchema): void {
    const own = byServer.get(entry.server);
    if (own && own.size >= mostOfOne) evict(own);
    const known = copies.get(entry.content);
    if (known) known.shared += 1;
    else {
      // One that others share frees nothing by going, so it may take a few.
      for (let tries = 0; copies.size >= most && tries < MOST_EVICTIONS; tries += 1) evictFromFullest();
      copies.set(entry.content, { compiled, shared: 1 });
    }
    const mine = byServer.get(entry.server) ?? new Map<string, SchemaEntry>();
    byServer.set(entry.server, mine.set(entry.content, entry));
  }

  function evictFromFullest(): void {
    let fullest: Map<string, SchemaEntry> | undefined;
    for (const entries of byServer.values()) if (entries.size > (fullest?.size ?? 0)) fullest = entries;
    if (fullest) evict(fullest);
  }

  function release({ content }: SchemaEntry): void {
    const copy = copies.get(content);
    if (!copy) return;
    copy.shared -= 1;
    if (copy.shared === 0) copies.delete(content);
  }

  function evict(entries: Map<string, SchemaEntry>): void {
    for (const [content, entry] of entries) {
      entries.delete(content);
      if (!entry.used) {
        entry.state = undefined;
        release(entry);
        if (entries.size === 0) byServer.delete(entry.server);
        return;
      }
      entry.used = false;
      entries.set(content, entry);
    }
  }

  function judge(entry: SchemaEntry, reason: UncheckableReason): void {
    entry.state = reason;
    const own = byServer.get(entry.server);
    if (own?.delete(entry.content)) release(entry);
    if (own?.size === 0) byServer.delete(entry.server);
    const [oldest] = verdicts.keys();
    if (oldest !== undefined && verdicts.size >= MOST_VERDICTS) verdicts.delete(oldest);
    verdicts.set(keyOf(entry.server, entry.content), entry);
  }

  return {
    find(server, schema) {
      const known = byObject.get(schema);
      if (known?.server === server && isKnown(known)) {
        known.used = true;
        return known;
      }
      // Without time even the hash is too much: it would be taken at every call.
      const entry = time.has(server) ? compile(server, schema) : undefined;
      if (!entry || !isKnown(entry)) return undefined;
      byObject.set(schema, entry);
      return entry;
    },
    ranOut(entry) {
      entry.costly += 1;
      if (entry.costly >= MOST_COSTLY_CHECKS) judge(entry, 'too_costly');
    },
    tell(entry, tool) {
      if (entry.told.has(tool) || entry.told.size >= MOST_TOLD) return false;
      entry.told.add(tool);
      return true;
    },
  };
}

function emptyEntry(server: string, content: string): SchemaEntry {
  return { server, content, state: undefined, used: false, costly: 0, told: new Set() };
}

function isKnown(entry: SchemaEntry): entry is KnownSchema {
  return entry.state !== undefined;
}

function keyOf(server: string, content: string): string {
  return JSON.stringify([server, content]);
}
