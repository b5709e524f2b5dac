import { type ExpandText, checkServer } from './checkServer.ts';
import { Config, ConfigWithoutServers, unusedInterfaceKeys } from './config.ts';
import { didYouMean, findNearest } from './didYouMean.ts';
import { type Finding, type Path, createFinding, formatPath } from './finding.ts';
import type { McpEndpoint } from './mcpSettings.ts';
import { checkServerName, isServerKey, isValidAlias, normalizeServerName } from './names.ts';
import { type KeyReport, checkKeys, isMapping, parseSection } from './section.ts';
import type { McpServer } from './server.ts';
import { isLoopbackHost, parseUrl } from './url.ts';

export interface ConfigCheck {
  /** Everything except the servers; absent if a type is wrong. */
  config?: ConfigWithoutServers;
  /** The valid definitions, even if others are invalid. */
  servers: [name: string, server: McpServer][];
  errors: Finding[];
  warnings: Finding[];
  /** Paths of LibreChat keys without effect, sorted, without duplicates. */
  unused: string[];
}

/** Checks a parsed configuration file. Pure: `expand` provides the environment. */
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
  // Servers are checked separately, but their section's name may be misspelled too.
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

  // Only the exact value relaxes the check. A misspelled value leaves it strict.
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

/**
 * LibreChat ignores unknown keys of `interface`, and so does Behalf. A key that resembles one of Behalf's gets a
 * warning.
 */
function findMisspelledInterface(value: unknown): Finding[] {
  if (!isMapping(value)) return [];
  return Object.keys(value)
    .filter((key) => key !== 'mcpServers' && !(unusedInterfaceKeys as readonly string[]).includes(key))
    .filter((key) => findNearest(key, ['mcpServers']) !== undefined)
    .map((key) =>
      createFinding(['interface', key], 'unknown_key', 'unknown key', 'did you mean "mcpServers"?'),
    );
}

/** Checks rules of `mcpSettings.endpoint` that need the whole file, such as names that are not unique. */
function checkEndpoint(endpoint: McpEndpoint, servers: readonly string[]): Finding[] {
  const path = ['mcpSettings', 'endpoint'];
  return [
    ...checkPriority(endpoint, [...path, 'priority'], servers),
    ...checkServerKeys(endpoint, [...path, 'servers'], servers),
    ...checkAliases(endpoint, [...path, 'servers'], 'tools'),
    ...checkAliases(endpoint, [...path, 'servers'], 'prompts'),
    ...checkOrigins(endpoint, [...path, 'allowedOrigins']),
  ];
}

function checkServerExists(name: string, path: Path, servers: readonly string[]): Finding[] {
  if (servers.includes(name)) return [];
  const fix = didYouMean(name, servers) ?? 'name one of mcpServers';
  return [createFinding(path, 'unknown_server', `there is no server "${name}" in this file`, fix)];
}

function checkPriority({ names, priority }: McpEndpoint, path: Path, servers: readonly string[]): Finding[] {
  if (names === 'priority' && priority.length === 0) {
    return [
      createFinding(
        path,
        'endpoint_names',
        'priority lists no server',
        'list the servers in order of priority',
      ),
    ];
  }
  if (names === 'prefix' && priority.length > 0) {
    const fix = 'write names: priority, or remove it';
    return [createFinding(path, 'endpoint_names', 'has no effect without names: priority', fix)];
  }
  return priority.flatMap((name, index) => {
    const itemPath = [...path, index];
    const isDuplicate = priority.indexOf(name) < index;
    if (isDuplicate)
      return [createFinding(itemPath, 'endpoint_names', `"${name}" is listed twice`, 'remove one of them')];
    return checkServerExists(name, itemPath, servers);
  });
}

function checkServerKeys(
  { servers: serverSettings }: McpEndpoint,
  path: Path,
  servers: readonly string[],
): Finding[] {
  const ownersByName = new Map<string, string>();
  for (const name of servers) {
    if (serverSettings[name]?.key === undefined && isServerKey(name))
      ownersByName.set(name, `mcpServers.${name}`);
  }
  return Object.entries(serverSettings).flatMap(([name, { key }]) => {
    const unknown = checkServerExists(name, [...path, name], servers);
    if (key === undefined) return unknown;
    const itemPath = [...path, name, 'key'];
    if (!isServerKey(key)) {
      const rule = 'must be 1 to 24 letters, digits, _ or -, without __, a trailing _ or a hash suffix';
      return [...unknown, createFinding(itemPath, 'endpoint_key', rule, 'choose a short word')];
    }
    const owner = ownersByName.get(key);
    ownersByName.set(key, formatPath(itemPath));
    if (owner === undefined) return unknown;
    return [
      ...unknown,
      createFinding(itemPath, 'endpoint_key', `"${key}" is already used by ${owner}`, 'choose another'),
    ];
  });
}

function checkAliases({ servers }: McpEndpoint, path: Path, kind: 'tools' | 'prompts'): Finding[] {
  const ownersByName = new Map<string, string>();
  return Object.entries(servers).flatMap(([server, { [kind]: names }]) =>
    Object.entries(names).flatMap(([name, alias]) => {
      const itemPath = [...path, server, kind, name];
      if (!isValidAlias(alias)) {
        const rule = 'must be 1 to 64 letters, digits, _ or -, without __';
        return [createFinding(itemPath, 'endpoint_alias', rule, 'choose another name')];
      }
      const owner = ownersByName.get(alias);
      ownersByName.set(alias, formatPath(itemPath));
      if (owner === undefined) return [];
      return [
        createFinding(
          itemPath,
          'endpoint_alias',
          `"${alias}" is already used by ${owner}`,
          'choose another name',
        ),
      ];
    }),
  );
}

/** Requires the exact form that browsers send: origins are compared as strings. */
function checkOrigins({ allowedOrigins }: McpEndpoint, path: Path): Finding[] {
  return allowedOrigins.flatMap((text, index) => {
    const url = parseUrl(text);
    const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
    const itemPath = [...path, index];
    if (!url || !isHttp || url.hostname.includes('*')) {
      return [
        createFinding(itemPath, 'origin', 'is not an origin', 'write scheme://host or scheme://host:port'),
      ];
    }
    if (url.origin !== text) {
      return [
        createFinding(itemPath, 'origin', 'is not in the form that browsers send', `write ${url.origin}`),
      ];
    }
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
      return [createFinding(itemPath, 'origin', 'an http page can be modified on the network', 'use https')];
    }
    return [];
  });
}
