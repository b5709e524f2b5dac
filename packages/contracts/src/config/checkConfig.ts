import { checkServer } from './checkServer.ts';
import { Config, ConfigWithoutServers } from './config.ts';
import { didYouMean, findNearest } from './didYouMean.ts';
import { checkEndpoint } from './checkEndpoint.ts';
import { checkKeys, isMapping, type KeyReport } from './checkKeys.ts';
import { createFinding, type Finding } from './finding.ts';
import { parseSection } from './parseSection.ts';
import { unusedInterfaceKeys } from './librechatKeys.ts';
import { normalizeServerName, checkServerName } from './serverName.ts';
import type { ExpandText } from './checkTextValues.ts';
import type { McpServer } from './transports.ts';

export interface ConfigCheck {
  /** Everything but the servers; absent when a type is wrong. */
  config?: ConfigWithoutServers;
  /** The definitions that can be used, also when others cannot. */
  servers: [name: string, server: McpServer][];
  errors: Finding[];
  warnings: Finding[];
  /** Paths of LibreChat keys without effect, each once, sorted. */
  unused: string[];
}

/** The whole file, already read from YAML. Pure; what needs the environment comes in as `expand`. */
export function checkConfig(value: unknown, expand: ExpandText = (text) => text): ConfigCheck {
  const result: ConfigCheck = { servers: [], errors: [], warnings: [], unused: [] };
  if (!isMapping(value)) {
    result.errors.push(
      createFinding([], 'wrong_type', 'the file must be a mapping of sections', 'begin with mcpServers:'),
    );
    return result;
  }
  const { mcpServers, ...rest } = value;
  const keys: KeyReport = { unknown: [], unused: new Set() };
  checkKeys(ConfigWithoutServers, rest, [], keys);
  // The servers' section is checked apart, but it is a word one can misspell.
  const unknown = keys.unknown.map((item) => (item.path.length === 1 ? addTopLevelHint(item) : item));

  const parsed = parseSection(ConfigWithoutServers, rest, []);
  if ('findings' in parsed) result.errors.push(...parsed.findings);
  else result.config = parsed.value;
  result.warnings.push(...findMisspelledInterface(rest.interface));

  const endpoint = result.config?.mcpSettings?.endpoint;
  const servers = isMapping(mcpServers) ? Object.keys(mcpServers) : [];
  if (endpoint) result.errors.push(...checkEndpoint(endpoint, servers));

  const unused = new Set(keys.unused);
  checkServers(mcpServers, expand, result, unknown, unused);

  // Only a clear statement relaxes the check: a misspelt switch leaves it on.
  if (rest.unknownKeys === 'warn') result.warnings.push(...unknown);
  else result.errors.push(...unknown);
  result.unused = [...unused].sort();
  return result;
}

function checkServers(
  value: unknown,
  expand: ExpandText,
  result: ConfigCheck,
  unknown: Finding[],
  unused: Set<string>,
): void {
  if (value === undefined || value === null) return;
  if (!isMapping(value)) {
    result.errors.push(
      createFinding(
        ['mcpServers'],
        'wrong_type',
        'must be a mapping of server names',
        'write name: below it',
      ),
    );
    return;
  }
  const namesByNormalized = new Map<string, string>();
  for (const [name, definition] of Object.entries(value)) {
    const path = ['mcpServers', name];
    const problem = checkServerName(name);
    if (problem) result.errors.push(createFinding(path, 'server_name', problem, 'choose another name'));
    const normalized = normalizeServerName(name);
    const duplicate = namesByNormalized.get(normalized);
    if (duplicate !== undefined) {
      result.errors.push(
        createFinding(
          path,
          'server_name_taken',
          `"${name}" and "${duplicate}" both become "${normalized}" in tool names`,
          'rename one of them',
        ),
      );
    }
    namesByNormalized.set(normalized, name);
    const check = checkServer(definition, path, expand);
    result.errors.push(...check.errors);
    result.warnings.push(...check.warnings);
    unknown.push(...check.unknown);
    for (const item of check.unused) unused.add(item);
    if (check.server && !problem && duplicate === undefined) result.servers.push([name, check.server]);
  }
}

function addTopLevelHint(item: Finding): Finding {
  const suggestion = didYouMean(String(item.path[0]), Object.keys(Config.shape));
  return createFinding(item.path, item.code, item.message, suggestion);
}

/** LibreChat drops unknown keys of `interface` and so do we, but one that looks like ours deserves a word. */
function findMisspelledInterface(value: unknown): Finding[] {
  if (!isMapping(value)) return [];
  return Object.keys(value)
    .filter((key) => key !== 'mcpServers' && !(unusedInterfaceKeys as readonly string[]).includes(key))
    .filter((key) => findNearest(key, ['mcpServers']) !== undefined)
    .map((key) =>
      createFinding(['interface', key], 'unknown_key', 'unknown key', 'did you mean "mcpServers"?'),
    );
}
