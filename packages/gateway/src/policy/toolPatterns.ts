import { normalizeServerName, parseToolPattern } from '@behalf/contracts';
import type { ServerSource } from '../registry/server.ts';
import { matchesGlob } from './matchesGlob.ts';

export interface PolicyServer {
  readonly name: string;
  readonly source: ServerSource;
}

/** A list of patterns, ready to be asked. */
export type ToolPatterns = (server: PolicyServer, tool: string) => boolean;

/** A server is known by its name and by the form of it that stands in tool names: a pattern may use either. */
export function compilePatterns(list: readonly string[] = []): ToolPatterns {
  const patterns = list.map(parseToolPattern).filter((pattern) => pattern.kind === 'tools');
  if (patterns.length === 0) return () => false;
  return ({ name }, tool) => {
    const normalized = normalizeServerName(name);
    return patterns.some(
      (pattern) =>
        matchesGlob(pattern.tool, tool) &&
        (matchesGlob(pattern.server, name) || matchesGlob(pattern.server, normalized)),
    );
  };
}

/**
 * The same for a list that permits. Users name their servers themselves, so one of theirs is meant only by a pattern
 * that names it whole: under a wildcard such as `crm-*` they could put whatever they like.
 */
export function compilePermissions(list: readonly string[] = []): ToolPatterns {
  const operatorPatterns = compilePatterns(list);
  const userPatterns = compilePatterns(list.filter((text) => !hasServerWildcard(text)));
  return (server, tool) => (server.source === 'user' ? userPatterns : operatorPatterns)(server, tool);
}

function hasServerWildcard(text: string): boolean {
  const pattern = parseToolPattern(text);
  return pattern.kind === 'tools' && /[*?]/.test(pattern.server);
}
