import type { Diagnostic } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { JsonObject } from '../upstream/upstream.ts';
import { createCompiledSchemas, type SchemaEntry } from './schema/compiledSchemas.ts';
import { createCompilerTime } from './schema/compilerTime.ts';
import { explainProblems } from './schema/explainProblems.ts';
import { measureArguments } from './schema/measureArguments.ts';
import { Uncheckable, type UncheckableReason } from './schema/uncheckable.ts';

/** Which tool of which server. */
export interface ToolIdentity {
  readonly serverId: string;
  readonly toolName: string;
}

export interface ArgumentValidatorParts {
  readonly clock: Clock;
  readonly log: (event: string, fields: Readonly<Record<string, string>>) => void;
  /** How many schemas are held compiled, and how many of one server. */
  readonly maxCompiled?: number;
  readonly maxOfServer?: number;
}

export interface ArgumentValidator {
  /**
   * What is wrong with the arguments, or null. They pass unchanged: nothing is filled in or converted. A schema that
   * cannot be checked safely is not checked: the server judges for itself, and the tool stays usable. `largest`: in bytes, of
   * what is not arguments.
   */
  validate(tool: ToolIdentity, inputSchema: JsonObject, args: unknown, largest?: number): Diagnostic[] | null;
}

const MAX_COMPILED = 500;
const MAX_OF_SERVER = 100;

/** Checks arguments against the schema of their tool before anything is spent on the call. */
export function createArgumentValidator({
  clock,
  log,
  maxCompiled = MAX_COMPILED,
  maxOfServer = MAX_OF_SERVER,
}: ArgumentValidatorParts): ArgumentValidator {
  const time = createCompilerTime(clock);
  const schemas = createCompiledSchemas(time, { most: maxCompiled, mostOfOne: maxOfServer });

  function unchecked(
    entry: SchemaEntry,
    { serverId, toolName }: ToolIdentity,
    reason: UncheckableReason,
  ): null {
    if (schemas.tell(entry, JSON.stringify([serverId, toolName]))) {
      log('arguments_unchecked', { server: serverId, tool: toolName, reason });
    }
    return null;
  }

  function postponed({ serverId, toolName }: ToolIdentity): null {
    if (time.tell(serverId)) {
      log('arguments_unchecked', { server: serverId, tool: toolName, reason: 'compiler_busy' });
    }
    return null;
  }

  return {
    validate(tool, inputSchema, args, largest) {
      const oversize = measureArguments(args, largest);
      if (oversize) return [oversize];
      const entry = schemas.find(tool.serverId, inputSchema);
      if (!entry) return postponed(tool);
      const compiled = entry.state;
      if (typeof compiled === 'string') return unchecked(entry, tool, compiled);
      if (compiled.partial) unchecked(entry, tool, 'pattern');
      try {
        if (compiled.accepts(args)) return null;
        // Models write null for what they leave out: the server is not spared what it may well take.
        const given = withoutNulls(args);
        return given && compiled.accepts(given) ? null : explainProblems(compiled.problems(args));
      } catch (error) {
        if (!(error instanceof Uncheckable)) throw error;
        schemas.ranOut(entry);
        return unchecked(entry, tool, error.reason);
      }
    },
  };
}

/** The arguments without those that are null; nothing where none is. */
function withoutNulls(args: unknown): JsonObject | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const given = Object.entries(args).filter(([, value]) => value !== null);
  return given.length === Object.keys(args).length ? undefined : Object.fromEntries(given);
}
