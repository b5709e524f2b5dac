import type { Diagnostic } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { JsonObject } from '../upstream/upstream.ts';
import { type UncheckableReason, UncheckableSchemaError } from './schema/costBudget.ts';
import { explainProblems } from './schema/explainProblems.ts';
import { type SchemaEntry, createCompileTimeBudget, createSchemaCache } from './schema/schemaCache.ts';

/** Which tool of which server. */
export interface ToolIdentity {
  readonly serverId: string;
  readonly toolName: string;
}

interface ArgumentValidatorParts {
  readonly clock: Clock;
  readonly log: (event: string, fields: Readonly<Record<string, string>>) => void;
  /** How many schemas are held compiled, and how many of one server. */
  readonly maxCompiled?: number;
  readonly maxPerServer?: number;
}

export interface ArgumentValidator {
  /**
   * What is wrong with the arguments, or null. They pass unchanged: nothing is filled in or converted. A schema that
   * cannot be checked safely is not checked: the server judges for itself, and the tool stays usable. `largest`: in bytes, of
   * what is not arguments.
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

/** Checks arguments against the schema of their tool before anything is spent on the call. */
export function createArgumentValidator({
  clock,
  log,
  maxCompiled = MAX_COMPILED,
  maxPerServer = MAX_PER_SERVER,
}: ArgumentValidatorParts): ArgumentValidator {
  const timeBudget = createCompileTimeBudget(clock);
  const schemaCache = createSchemaCache(timeBudget, { maxSchemas: maxCompiled, maxPerServer: maxPerServer });

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
        // Models write null for what they leave out: the server is not spared what it may well take.
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

/** The arguments without those that are null; nothing where none is. */
function withoutNulls(args: unknown): JsonObject | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const presentEntries = Object.entries(args).filter(([, value]) => value !== null);
  return presentEntries.length === Object.keys(args).length ? undefined : Object.fromEntries(presentEntries);
}

/** Serialised, nearly. What a tool is told fits into this; files travel by reference. */
const MAX_ARGUMENTS_BYTES = 256 * 1024;
const MAX_ARGUMENTS_DEPTH = 32;

/** What is wrong with the sheer size of the arguments, found without writing them out. */
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
