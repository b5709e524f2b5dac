import {
  type RoleToolPolicy,
  type ToolApproval,
  normalizeServerName,
  parseToolPattern,
} from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot, ServerSource } from '../servers/definition.ts';
import type { CatalogTool } from './catalog.ts';

/** `absent`: it is not listed, and a call finds no such tool. `ask`: it runs when its user has approved this call. */
export type ToolDecision = 'run' | 'ask' | 'absent';

interface PolicyTool {
  readonly name: string;
  /** It says so itself. What says nothing is not. */
  readonly readOnly: boolean;
}

export interface ToolPolicy {
  decide(principal: Pick<Principal, 'kind' | 'role'>, server: PolicyServer, tool: PolicyTool): ToolDecision;
}

interface Rules {
  readonly allow: ToolPatterns;
  readonly deny: ToolPatterns;
  readonly ask: ToolPatterns;
  /** Nothing exists but what `allow` names. */
  readonly onlyAllowed: boolean;
  readonly readOnlyOnly: boolean;
}

/** What the configuration says about tools, for every door alike. Made anew when the configuration changes. */
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

  /** `ask` wins over `allow`, whichever of the two is the role's: a role's `allow` says what exists, not what is harmless. */
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
      // Nobody could be asked: a program has no user who would approve.
      return decision === 'ask' && kind === 'service' ? 'absent' : decision;
    },
  };
}

function rulesOf(rules: Partial<Readonly<RoleToolPolicy>>, isRole = false): Rules {
  return {
    allow: compilePermissions(rules.allow),
    deny: compilePatterns(rules.deny),
    ask: compilePatterns(rules.ask),
    // One that names no tool of a server is a limit all the same.
    onlyAllowed: isRole && (rules.allow ?? []).length > 0,
    readOnlyOnly: rules.readOnlyOnly ?? false,
  };
}

export interface PolicyParts {
  /** As the configuration has it now. */
  readonly policy: () => ToolPolicy;
}

/** What the definition of the server and the policy say together. The one question of lists and of calls. */
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

/** Whether this tool exists for this caller. */
export function isToolAvailable(...args: Parameters<typeof decideTool>): boolean {
  return decideTool(...args) !== 'absent';
}

interface PolicyServer {
  readonly name: string;
  readonly source: ServerSource;
}

/** A list of patterns, ready to be asked. */
type ToolPatterns = (server: PolicyServer, tool: string) => boolean;

/** A server is known by its name and by the form of it that stands in tool names: a pattern may use either. */
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
 * The same for a list that permits. Users name their servers themselves, so one of theirs is meant only by a pattern
 * that names it whole: under a wildcard such as `crm-*` they could put whatever they like.
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

/** `*` for any text, `?` for one character. Goes back to the last `*` only, so no name makes it slow. */
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

/** Beyond this all are forgotten: names of servers and tools come from whoever runs the servers. */
const MAX_DECISIONS = 20_000;

/**
 * What was decided, by names and by all else that decides. Maps in maps, because a key put together would be made anew
 * with every call.
 */
interface DecisionCache {
  get(role: string, server: PolicyServer, tool: PolicyTool): ToolDecision | undefined;
  set(role: string, server: PolicyServer, tool: PolicyTool, decision: ToolDecision): void;
  readonly size: number;
}

type ByRole = Map<string, Map<string, Map<string, ToolDecision>>>;

/** For tools that only read, and for all others. */
interface DecisionMaps {
  readonly readOnlyTools: ByRole;
  readonly otherTools: ByRole;
}

export function createDecisionCache(maxDecisions = MAX_DECISIONS): DecisionCache {
  const operators: DecisionMaps = { readOnlyTools: new Map(), otherTools: new Map() };
  // Servers of two tenants may have one name, and not one author.
  const users: DecisionMaps = { readOnlyTools: new Map(), otherTools: new Map() };
  let size = 0;
  const mapFor = ({ source }: PolicyServer, { readOnly }: PolicyTool) => {
    const maps = source === 'user' ? users : operators;
    return readOnly ? maps.readOnlyTools : maps.otherTools;
  };
  return {
    get: (role, server, tool) => mapFor(server, tool).get(role)?.get(server.name)?.get(tool.name),
    set(role, server, tool, decision) {
      if (size >= maxDecisions) {
        for (const { readOnlyTools, otherTools } of [operators, users]) {
          readOnlyTools.clear();
          otherTools.clear();
        }
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
 * Whether the definition lets this tool exist here. Asked when tools are listed and again when one is called: a name
 * that is hidden can still be guessed. A tool whose annotations are not known is not read-only.
 */
export function isToolAllowed({ tools }: ServerSettings, name: string, isReadOnly: boolean): boolean {
  if (!tools) return true;
  if (tools.exclude?.some((glob) => matchesGlob(glob, name))) return false;
  if (tools.include && !tools.include.some((glob) => matchesGlob(glob, name))) return false;
  return isReadOnly || !tools.readOnlyOnly;
}
