import type { Diagnostic } from '@behalf/contracts';
import { type Clock, isObject } from '@behalf/kernel';
import type { JsonObject } from '../upstream/upstream.ts';
import { type UncheckableReason, UncheckableSchemaError } from './schema/costBudget.ts';
import { explainProblems } from './schema/explainProblems.ts';
import { type SchemaEntry, createCompileTimeBudget, createSchemaCache } from './schema/schemaCache.ts';

export interface ToolIdentity {
  readonly serverId: string;
  readonly toolName: string;
}

interface ArgumentValidatorParts {
  readonly clock: Clock;
  readonly log: (event: string, fields: Readonly<Record<string, string>>) => void;
  /** Limits of the compiled schemas: in total and per server. */
  readonly maxCompiled?: number;
  readonly maxPerServer?: number;
}

export interface ArgumentValidator {
  /**
   * The problems of the arguments, or null. Arguments are never changed: no defaults, no conversion. If a schema cannot be
   * checked safely, the arguments pass and the server validates them, so the tool stays usable. Also validates structured
   * content against an output schema, with its own `maxBytes`.
   */
  validate(
    tool: ToolIdentity,
    inputSchema: JsonObject,
    args: unknown,
    maxBytes?: number,
  ): Diagnostic[] | null;
}

const MAX_COMPILED = 500;
const MAX_PER_SERVER = 100;

/** Validates arguments against the tool's input schema, before the call costs anything. */
export function createArgumentValidator({
  clock,
  log,
  maxCompiled = MAX_COMPILED,
  maxPerServer = MAX_PER_SERVER,
}: ArgumentValidatorParts): ArgumentValidator {
  const timeBudget = createCompileTimeBudget(clock);
  const schemaCache = createSchemaCache(timeBudget, { maxSchemas: maxCompiled, maxPerServer });

  function logUnchecked(
    entry: SchemaEntry,
    { serverId, toolName }: ToolIdentity,
    reason: UncheckableReason,
  ): null {
    if (schemaCache.shouldLog(entry, JSON.stringify([serverId, toolName]))) {
      log('arguments_not_validated', { server: serverId, tool: toolName, reason });
    }
    return null;
  }

  function logPostponed({ serverId, toolName }: ToolIdentity): null {
    if (timeBudget.shouldLog(serverId)) {
      log('arguments_not_validated', { server: serverId, tool: toolName, reason: 'compiler_busy' });
    }
    return null;
  }

  return {
    validate(tool, inputSchema, args, maxBytes) {
      const sizeError = checkArgumentsSize(args, maxBytes);
      if (sizeError) return [sizeError];
      const entry = schemaCache.find(tool.serverId, inputSchema);
      if (!entry) return logPostponed(tool);
      const compiled = entry.state;
      if (typeof compiled === 'string') return logUnchecked(entry, tool, compiled);
      if (compiled.isPartial) logUnchecked(entry, tool, 'pattern');
      try {
        if (compiled.accepts(args)) return null;
        // Models write null for omitted optional arguments, and most servers accept it.
        const withoutNull = withoutNulls(args);
        return withoutNull && compiled.accepts(withoutNull)
          ? null
          : explainProblems(compiled.findErrors(args));
      } catch (error) {
        if (!(error instanceof UncheckableSchemaError)) throw error;
        schemaCache.recordCostlyCheck(entry);
        return logUnchecked(entry, tool, error.reason);
      }
    },
  };
}

/** The arguments without top-level nulls; undefined if there are none. */
function withoutNulls(args: unknown): JsonObject | undefined {
  if (!isObject(args)) return undefined;
  const presentEntries = Object.entries(args).filter(([, value]) => value !== null);
  return presentEntries.length === Object.keys(args).length ? undefined : Object.fromEntries(presentEntries);
}

/** Approximate size as JSON. Large content belongs in resources. */
const MAX_ARGUMENTS_BYTES = 256 * 1024;
const MAX_ARGUMENTS_DEPTH = 32;

/** Checks size and depth without serializing the arguments. */
function checkArgumentsSize(args: unknown, maxBytes = MAX_ARGUMENTS_BYTES): Diagnostic | undefined {
  const measured = { remainingBytes: maxBytes, isTooDeep: false };

  function measure(value: unknown, depth: number): void {
    if (measured.remainingBytes < 0 || measured.isTooDeep) return;
    if (typeof value === 'string') measured.remainingBytes -= Buffer.byteLength(value) + 2;
    else if (typeof value !== 'object' || value === null) measured.remainingBytes -= 4;
    else if (depth > MAX_ARGUMENTS_DEPTH) measured.isTooDeep = true;
    else if (Array.isArray(value)) {
      measured.remainingBytes -= 2 + value.length;
      for (const item of value) measure(item, depth + 1);
    } else {
      measured.remainingBytes -= 2;
      for (const key in value) {
        measured.remainingBytes -= key.length + 4;
        measure((value as Record<string, unknown>)[key], depth + 1);
      }
    }
  }

  measure(args, 1);
  if (measured.isTooDeep) {
    const message = `The arguments are nested more than ${MAX_ARGUMENTS_DEPTH} deep.`;
    return { path: 'arguments', code: 'too_deep', message };
  }
  if (measured.remainingBytes >= 0) return undefined;
  return {
    path: 'arguments',
    code: 'too_large',
    message: `The arguments are larger than ${maxBytes / 1024} KiB.`,
  };
}
