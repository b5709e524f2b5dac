import { checkKeys, isMapping, type KeyReport } from './checkKeys.ts';
import { createFinding, type Finding, type Path } from './finding.ts';
import { parseSection } from './parseSection.ts';
import { inferTransport } from './inferTransport.ts';
import { checkServerRules } from './checkServerRules.ts';
import { checkTextValues, type ExpandText } from './checkTextValues.ts';
import { transportSchemas, type McpServer, type Transport } from './transports.ts';

export interface ServerCheck {
  /** Present when the definition can be used. */
  server?: McpServer;
  errors: Finding[];
  /** Kept apart from errors: a file being migrated may turn these into warnings. */
  unknown: Finding[];
  warnings: Finding[];
  unused: ReadonlySet<string>;
}

/** One definition: which transport it means, whether it fits it, and what is wrong if not. */
export function checkServer(value: unknown, path: Path, expand: ExpandText = (text) => text): ServerCheck {
  const keys: KeyReport = { unknown: [], unused: new Set() };
  const result: ServerCheck = { errors: [], unknown: keys.unknown, warnings: [], unused: keys.unused };
  if (!isMapping(value)) {
    result.errors.push(
      createFinding(path, 'wrong_type', 'must be a mapping', 'write url: or command: below it'),
    );
    return result;
  }
  const url = typeof value.url === 'string' ? expand(value.url) : undefined;
  const inferred = inferTransport(value, url, path);
  if ('findings' in inferred) {
    result.errors.push(...inferred.findings);
    return result;
  }
  const { transport } = inferred;
  result.warnings.push(...inferred.warnings);
  checkKeys(transportSchemas[transport], value, path, keys);
  const [misplaced, unknown] = splitUnknownKeys(keys.unknown, path, transport);
  result.errors.push(...misplaced);
  result.unknown = unknown;

  const parsed = parseSection(transportSchemas[transport], value, path);
  if ('findings' in parsed) {
    result.errors.push(...parsed.findings);
    return result;
  }
  const server: McpServer = parsed.value;
  const rules = checkServerRules(server, path);
  result.errors.push(...rules.errors, ...checkTextValues(server, path, expand));
  result.warnings.push(...rules.warnings);
  if (result.errors.length === 0) result.server = server;
  return result;
}

const allKeys = new Set(Object.values(transportSchemas).flatMap((schema) => Object.keys(schema.shape)));

/** A key of another transport is not a misspelling, and no migration switch may let it pass. */
function splitUnknownKeys(
  unknown: readonly Finding[],
  path: Path,
  transport: Transport,
): [Finding[], Finding[]] {
  const misplaced: Finding[] = [];
  const rest: Finding[] = [];
  for (const item of unknown) {
    const key = item.path.at(-1);
    if (item.path.length !== path.length + 1 || typeof key !== 'string' || !allKeys.has(key)) rest.push(item);
    else if (key === 'obo') misplaced.push(createOboFinding(item.path, transport));
    else
      misplaced.push(
        createFinding(item.path, 'misplaced_key', `is not supported on a ${transport} server`, 'remove it'),
      );
  }
  return [misplaced, rest];
}

function createOboFinding(path: Path, transport: Transport): Finding {
  return createFinding(
    path,
    'obo_transport',
    `On-Behalf-Of is not possible on a ${transport} server: its requests cannot carry the user's token`,
    'use a url with type "streamable-http" or "sse", or remove obo',
  );
}
