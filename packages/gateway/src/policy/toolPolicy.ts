import type { RoleToolPolicy, ToolApproval } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import { compilePatterns, compilePermissions, type JudgedServer, type ToolPatterns } from './toolPatterns.ts';
import { createVerdicts } from './verdicts.ts';

/** `absent`: it is not listed, and a call finds no such tool. `ask`: it runs when its user has approved this call. */
export type ToolVerdict = 'run' | 'ask' | 'absent';

export interface JudgedTool {
  readonly name: string;
  /** It says so itself. What says nothing is not. */
  readonly readOnly: boolean;
}

export interface ToolPolicy {
  decide(principal: Pick<Principal, 'kind' | 'role'>, server: JudgedServer, tool: JudgedTool): ToolVerdict;
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
  const general = rulesOf(approval);
  const byRole = new Map(
    Object.entries(approval.roles ?? {}).map(([role, rules]) => [role, rulesOf(rules, true)]),
  );
  const verdicts = createVerdicts();

  function judge(role: string, server: JudgedServer, { name, readOnly }: JudgedTool): ToolVerdict {
    const own = byRole.get(role);
    if (general.deny(server, name) || own?.deny(server, name)) return 'absent';
    if (own?.onlyAllowed && !own.allow(server, name)) return 'absent';
    if (own?.readOnlyOnly && !readOnly) return 'absent';
    if (!asks(own, server, name) || !enabled || mode === 'bypass') return 'run';
    return mode === 'dontAsk' ? 'absent' : 'ask';
  }

  /** `ask` wins over `allow`, whichever of the two is the role's: a role's `allow` says what exists, not what is harmless. */
  function asks(own: Rules | undefined, server: JudgedServer, name: string): boolean {
    if (own?.ask(server, name) || general.ask(server, name)) return true;
    if (own?.allow(server, name) || general.allow(server, name)) return false;
    return mode === 'default';
  }

  return {
    decide({ kind, role }, server, tool) {
      let verdict = verdicts.get(role, server, tool);
      if (verdict === undefined) {
        verdict = judge(role, server, tool);
        verdicts.set(role, server, tool, verdict);
      }
      // Nobody could be asked: a program has no user who would approve.
      return verdict === 'ask' && kind === 'service' ? 'absent' : verdict;
    },
  };
}

function rulesOf(rules: Partial<Readonly<RoleToolPolicy>>, ofRole = false): Rules {
  return {
    allow: compilePermissions(rules.allow),
    deny: compilePatterns(rules.deny),
    ask: compilePatterns(rules.ask),
    // One that names no tool of a server is a limit all the same.
    onlyAllowed: ofRole && (rules.allow ?? []).length > 0,
    readOnlyOnly: rules.readOnlyOnly ?? false,
  };
}
