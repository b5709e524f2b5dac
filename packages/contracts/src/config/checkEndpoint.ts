import { didYouMean } from './didYouMean.ts';
import { isValidAlias, isServerKey } from './endpointNames.ts';
import { createFinding, formatPath, type Finding, type Path } from './finding.ts';
import { isLoopbackHost } from './isLoopbackHost.ts';
import type { McpEndpoint } from './mcpEndpoint.ts';
import { parseUrl } from './parseUrl.ts';

/** Rules of `mcpSettings.endpoint` that need the whole file: a name that two could have is told here, not found out later. */
export function checkEndpoint(endpoint: McpEndpoint, servers: readonly string[]): Finding[] {
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

/** As browsers write it, letter by letter: it is compared and never read. */
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
