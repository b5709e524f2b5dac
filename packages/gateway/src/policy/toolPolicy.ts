import type { RoleToolPolicy, ToolApproval } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import { compilePatterns, compilePermissions, type PolicyServer, type ToolPatterns } from './toolPatterns.ts';
import { createDecisionCache } from './decisionCache.ts';

/** `absent`: it is not listed, and a call finds no such tool. `ask`: it runs when its user has approved this call. */
export type ToolDecision = 'run' | 'ask' | 'absent';

export interface PolicyTool {
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
