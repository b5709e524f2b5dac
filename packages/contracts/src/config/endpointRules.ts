import { didYouMean } from './didYouMean.ts';
import { isPlainName, isServerKey } from './endpointNames.ts';
import { finding, formatPath, type Finding, type Path } from './finding.ts';
import { isLoopbackHost } from './isLoopbackHost.ts';
import type { McpEndpoint } from './mcpEndpoint.ts';
import { parseUrl } from './parseUrl.ts';

/** Rules of `mcpSettings.endpoint` that need the whole file: a name that two could have is told here, not found out later. */
export function endpointRules(endpoint: McpEndpoint, servers: readonly string[]): Finding[] {
  const path = ['mcpSettings', 'endpoint'];
  return [
    ...priorityRules(endpoint, [...path, 'priority'], servers),
    ...keyRules(endpoint, [...path, 'servers'], servers),
    ...aliasRules(endpoint, [...path, 'servers'], 'tools'),
    ...aliasRules(endpoint, [...path, 'servers'], 'prompts'),
    ...originRules(endpoint, [...path, 'allowedOrigins']),
  ];
}

function unknownServer(name: string, path: Path, servers: readonly string[]): Finding[] {
  if (servers.includes(name)) return [];
  const fix = didYouMean(name, servers) ?? 'name one of mcpServers';
  return [finding(path, 'unknown_server', `there is no server "${name}" in this file`, fix)];
}

function priorityRules({ names, priority }: McpEndpoint, path: Path, servers: readonly string[]): Finding[] {
  if (names === 'priority' && priority.length === 0) {
    return [finding(path, 'endpoint_names', 'no server is named', 'list the servers, the first before all')];
  }
  if (names === 'prefix' && priority.length > 0) {
    const fix = 'write names: priority, or remove it';
    return [finding(path, 'endpoint_names', 'has no effect without names: priority', fix)];
  }
  return priority.flatMap((name, index) => {
    const at = [...path, index];
    const isSecond = priority.indexOf(name) < index;
    if (isSecond) return [finding(at, 'endpoint_names', `"${name}" is listed before`, 'remove one of them')];
    return unknownServer(name, at, servers);
  });
}

function keyRules({ servers: chosen }: McpEndpoint, path: Path, servers: readonly string[]): Finding[] {
  const taken = new Map<string, string>();
  for (const name of servers) {
    if (chosen[name]?.key === undefined && isServerKey(name)) taken.set(name, `mcpServers.${name}`);
  }
  return Object.entries(chosen).flatMap(([name, { key }]) => {
    const unknown = unknownServer(name, [...path, name], servers);
    if (key === undefined) return unknown;
    const at = [...path, name, 'key'];
    if (!isServerKey(key)) {
      const rule = 'must be letters, digits, _ and -, 24 at most, without __, _ at its end or a hash';
      return [...unknown, finding(at, 'endpoint_key', rule, 'choose a short word')];
    }
    const other = taken.get(key);
    taken.set(key, formatPath(at));
    if (other === undefined) return unknown;
    return [
      ...unknown,
      finding(at, 'endpoint_key', `"${key}" is already that of ${other}`, 'choose another'),
    ];
  });
}

function aliasRules({ servers }: McpEndpoint, path: Path, kind: 'tools' | 'prompts'): Finding[] {
  const taken = new Map<string, string>();
  return Object.entries(servers).flatMap(([server, { [kind]: names }]) =>
    Object.entries(names).flatMap(([name, alias]) => {
      const at = [...path, server, kind, name];
      if (!isPlainName(alias)) {
        const rule = 'must be letters, digits, _ and -, 64 at most, without __';
        return [finding(at, 'endpoint_alias', rule, 'choose another name')];
      }
      const other = taken.get(alias);
      taken.set(alias, formatPath(at));
      if (other === undefined) return [];
      return [finding(at, 'endpoint_alias', `"${alias}" is already that of ${other}`, 'choose another name')];
    }),
  );
}

/** As browsers write it, letter by letter: it is compared and never read. */
function originRules({ allowedOrigins }: McpEndpoint, path: Path): Finding[] {
  return allowedOrigins.flatMap((text, index) => {
    const url = parseUrl(text);
    const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
    const at = [...path, index];
    if (!url || !isHttp || url.hostname.includes('*')) {
      return [finding(at, 'origin', 'is no origin', 'write scheme://host, with a port where there is one')];
    }
    if (url.origin !== text) {
      return [finding(at, 'origin', 'is not written as browsers write it', `write ${url.origin}`)];
    }
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
      return [finding(at, 'origin', 'anybody on the way can speak for a page without https', 'use https')];
    }
    return [];
  });
}
