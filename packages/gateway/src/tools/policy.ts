import {
  type RoleToolPolicy,
  type ToolApproval,
  normalizeServerName,
  parseToolPattern,
} from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot, ServerSource } from '../definitions/definition.ts';
import type { CatalogTool } from './catalog.ts';

/** `absent`: not listed, and a call fails as for a missing tool. `ask`: runs after the user approved this call. */
export type ToolDecision = 'run' | 'ask' | 'absent';

interface PolicyTool {
  readonly name: string;
  /** `readOnlyHint` of the server. Without annotations, false. */
  readonly readOnly: boolean;
}

export interface ToolPolicy {
  decide(principal: Pick<Principal, 'kind' | 'role'>, server: PolicyServer, tool: PolicyTool): ToolDecision;
}

interface Rules {
  readonly allow: ToolPatterns;
  readonly deny: ToolPatterns;
  readonly ask: ToolPatterns;
  /** Only tools that `allow` names exist. */
  readonly onlyAllowed: boolean;
  readonly readOnlyOnly: boolean;
}

/** The tool policy of the configuration, the same for all entry points. Created again when the configuration changes. */
export function createToolPolicy(approval: Readonly<ToolApproval> | undefined): ToolPolicy {
  if (!approval) return { decide: () => 'run' };
  const { enabled = true, mode } = approval;
  const baseRules = rulesOf(approval);
  const byRole = new Map(
    Object.entries(approval.roles ?? {}).map(([role, rules]) => [role, rulesOf(rules, true)]),
  );
  const decisions = createDecisionCache();

  function evaluate(role: string, server: PolicyServer, { name, readOnly }: PolicyTool): ToolDecision {
    const roleRules = byRole.get(role);
    if (baseRules.deny(server, name) || roleRules?.deny(server, name)) return 'absent';
    if (roleRules?.onlyAllowed && !roleRules.allow(server, name)) return 'absent';
    if (roleRules?.readOnlyOnly && !readOnly) return 'absent';
    if (!requiresApproval(roleRules, server, name) || !enabled || mode === 'bypass') return 'run';
    return mode === 'dontAsk' ? 'absent' : 'ask';
  }

  /** `ask` takes precedence over `allow`: a role's `allow` defines which tools exist, not which are harmless. */
  function requiresApproval(roleRules: Rules | undefined, server: PolicyServer, name: string): boolean {
    if (roleRules?.ask(server, name) || baseRules.ask(server, name)) return true;
    if (roleRules?.allow(server, name) || baseRules.allow(server, name)) return false;
    return mode === 'default';
  }

  return {
    decide({ kind, role }, server, tool) {
      let decision = decisions.get(role, server, tool);
      if (decision === undefined) {
        decision = evaluate(role, server, tool);
        decisions.set(role, server, tool, decision);
      }
      // Service principals have no user who can approve.
      return decision === 'ask' && kind === 'service' ? 'absent' : decision;
    },
  };
}

function rulesOf(rules: Partial<Readonly<RoleToolPolicy>>, isRole = false): Rules {
  return {
    allow: compilePermissions(rules.allow),
    deny: compilePatterns(rules.deny),
    ask: compilePatterns(rules.ask),
    // Also if no pattern matches a tool of the server.
    onlyAllowed: isRole && (rules.allow ?? []).length > 0,
    readOnlyOnly: rules.readOnlyOnly ?? false,
  };
}

export interface PolicyParts {
  /** The policy of the current configuration. */
  readonly policy: () => ToolPolicy;
}

/** Combines the server definition and the policy. Lists and calls use the same decision. */
export function decideTool(
  policy: ToolPolicy,
  principal: Pick<Principal, 'kind' | 'role'>,
  server: Pick<ServerSnapshot, 'name' | 'source' | 'settings'>,
  { name, annotations }: Pick<CatalogTool, 'name' | 'annotations'>,
): ToolDecision {
  const readOnly = annotations?.['readOnlyHint'] === true;
  if (!isToolAllowed(server.settings, name, readOnly)) return 'absent';
  return policy.decide(principal, server, { name, readOnly });
}

/** Whether the tool exists for this caller. */
export function isToolAvailable(...args: Parameters<typeof decideTool>): boolean {
  return decideTool(...args) !== 'absent';
}

interface PolicyServer {
  readonly name: string;
  readonly source: ServerSource;
}

/** A compiled list of patterns. */
type ToolPatterns = (server: PolicyServer, tool: string) => boolean;

/** A pattern can use the server's name or its normalized form in tool names. */
function compilePatterns(list: readonly string[] = []): ToolPatterns {
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
 * Compiles a list that permits tools. Users choose the names of the servers that they create, so only a pattern without wildcards
 * matches them: otherwise a user could create a server that `crm-*` permits.
 */
function compilePermissions(list: readonly string[] = []): ToolPatterns {
  const operatorPatterns = compilePatterns(list);
  const userPatterns = compilePatterns(list.filter((text) => !hasServerWildcard(text)));
  return (server, tool) => (server.source === 'user' ? userPatterns : operatorPatterns)(server, tool);
}

function hasServerWildcard(text: string): boolean {
  const pattern = parseToolPattern(text);
  return pattern.kind === 'tools' && /[*?]/.test(pattern.server);
}

/** `*` matches any text, `?` one character. Backtracks to the last `*` only, so the time is at most quadratic. */
export function matchesGlob(glob: string, text: string): boolean {
  let globIndex = 0;
  let textIndex = 0;
  let lastStar = -1;
  let retryIndex = 0;
  while (textIndex < text.length) {
    if (glob[globIndex] === '*') {
      lastStar = globIndex;
      retryIndex = textIndex;
      globIndex += 1;
    } else if (glob[globIndex] === '?' || (globIndex < glob.length && glob[globIndex] === text[textIndex])) {
      globIndex += 1;
      textIndex += 1;
    } else if (lastStar >= 0) {
      globIndex = lastStar + 1;
      retryIndex += 1;
      textIndex = retryIndex;
    } else return false;
  }
  while (glob[globIndex] === '*') globIndex += 1;
  return globIndex === glob.length;
}

/** When the cache is full, it is cleared. Servers choose the tool names, so their number is unbounded. */
const MAX_DECISIONS = 20_000;

/** Cached decisions by role, server and tool. Nested maps avoid building a key string for every call. */
interface DecisionCache {
  get(role: string, server: PolicyServer, tool: PolicyTool): ToolDecision | undefined;
  set(role: string, server: PolicyServer, tool: PolicyTool, decision: ToolDecision): void;
  readonly size: number;
}

type ByRole = Map<string, Map<string, Map<string, ToolDecision>>>;

export function createDecisionCache(maxDecisions = MAX_DECISIONS): DecisionCache {
  // A server of a user and one of the operator can have the same name in different tenants, so they use separate maps.
  const maps: readonly ByRole[] = [new Map(), new Map(), new Map(), new Map()];
  let size = 0;
  const mapFor = ({ source }: PolicyServer, { readOnly }: PolicyTool) =>
    maps[(source === 'user' ? 2 : 0) + (readOnly ? 1 : 0)] as ByRole;
  return {
    get: (role, server, tool) => mapFor(server, tool).get(role)?.get(server.name)?.get(tool.name),
    set(role, server, tool, decision) {
      if (size >= maxDecisions) {
        for (const map of maps) map.clear();
        size = 0;
      }
      getOrCreateMap(getOrCreateMap(mapFor(server, tool), role), server.name).set(tool.name, decision);
      size += 1;
    },
    get size() {
      return size;
    },
  };
}

function getOrCreateMap<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = outer.get(key);
  if (known) return known;
  const created = new Map<string, V>();
  outer.set(key, created);
  return created;
}

/**
 * Whether the server definition permits the tool. Checked for lists and again for calls, because a hidden name can be guessed.
 * A tool without annotations is not read-only.
 */
export function isToolAllowed({ tools }: ServerSettings, name: string, isReadOnly: boolean): boolean {
  if (!tools) return true;
  if (tools.exclude?.some((glob) => matchesGlob(glob, name))) return false;
  if (tools.include && !tools.include.some((glob) => matchesGlob(glob, name))) return false;
  return isReadOnly || !tools.readOnlyOnly;
}
