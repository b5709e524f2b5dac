import type { RoleToolPolicy, ToolApproval } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compileSettings } from '../../test/servers.ts';
import {
  type ToolDecision,
  createDecisionCache,
  createToolPolicy,
  decideTool,
  isToolAvailable,
  matchesGlob,
} from './policy.ts';

type Roles = Record<string, Partial<RoleToolPolicy>>;
type Approval = Omit<ToolApproval, 'roles'> & { roles?: Roles };

const policyOf = (approval: Approval | undefined) => createToolPolicy(approval as ToolApproval | undefined);
const user = (role = 'USER') => ({ kind: 'user', role }) as const;
const ofOperator = (name: string) => ({ name, source: 'yaml' }) as const;
const ofUser = (name: string) => ({ name, source: 'user' }) as const;

/** What becomes of `server:tool` for a user of this role. */
function decide(
  approval: Approval | undefined,
  named: string,
  role = 'USER',
  readOnly = false,
): ToolDecision {
  const [server = '', name = ''] = named.split('/');
  return policyOf(approval).decide(user(role), ofOperator(server), { name, readOnly });
}

describe('the policy about tools', () => {
  test('without a word everything runs; deny, ask and allow do what they say', () => {
    expect(decide(undefined, 'docs/search')).toBe('run');
    expect(decide({}, 'docs/search')).toBe('run');
    const approval = { allow: ['mcp:docs'], deny: ['mcp:*:delete_*'], ask: ['mcp:docs:write_?'] };
    expect(decide(approval, 'docs/search')).toBe('run');
    expect(decide(approval, 'docs/write_1')).toBe('ask');
    expect(decide(approval, 'docs/write_12')).toBe('run');
    expect(decide(approval, 'docs/delete_page')).toBe('absent');
    expect(decide(approval, 'other/write_1')).toBe('run');
    expect(decide({ deny: ['*'] }, 'docs/search')).toBe('absent');
    expect(decide({ deny: ['mcp:docs'] }, 'docs/search')).toBe('absent');
    expect(decide({ deny: ['mcp:docs'] }, 'docs2/search')).toBe('run');
  });

  test('each mode says what becomes of what would ask', () => {
    const rules = { allow: ['mcp:docs:read'], ask: ['mcp:docs:write'] };
    const decisions = (more: Approval) =>
      ['docs/read', 'docs/write', 'docs/unnamed'].map((named) => decide({ ...rules, ...more }, named));
    expect(decisions({})).toEqual(['run', 'ask', 'run']);
    expect(decisions({ enabled: true })).toEqual(['run', 'ask', 'run']);
    expect(decisions({ mode: 'default' })).toEqual(['run', 'ask', 'ask']);
    expect(decisions({ mode: 'dontAsk' })).toEqual(['run', 'absent', 'run']);
    expect(decisions({ mode: 'bypass' })).toEqual(['run', 'run', 'run']);
    expect(decisions({ mode: 'default', enabled: false })).toEqual(['run', 'run', 'run']);
  });

  test('the rules of a role narrow what its users have, and nobody else', () => {
    const roles: Roles = {
      USER: { allow: ['mcp:docs'], deny: ['mcp:docs:purge'], ask: ['mcp:docs:write', 'mcp:mail:send'] },
      READER: { readOnlyOnly: true },
      EMPTY: { allow: [] },
      STRANGE: { allow: ['execute_code'] },
    };
    const approval: Approval = { roles, ask: ['mcp:docs:publish'] };
    expect(decide(approval, 'docs/search')).toBe('run');
    expect(decide(approval, 'docs/purge')).toBe('absent');
    expect(decide(approval, 'docs/write')).toBe('ask');
    // The role's list says what there is, not what is harmless.
    expect(decide(approval, 'docs/publish')).toBe('ask');
    expect(decide(approval, 'mail/read')).toBe('absent');
    expect(decide(approval, 'mail/send')).toBe('absent');
    for (const role of ['ADMIN', 'EMPTY', 'constructor']) {
      expect(['docs/purge', 'docs/write', 'mail/send'].map((named) => decide(approval, named, role))).toEqual(
        ['run', 'run', 'run'],
      );
    }
    expect(decide(approval, 'docs/search', 'READER', true)).toBe('run');
    expect(decide(approval, 'docs/search', 'READER', false)).toBe('absent');
    const storedPolicy = policyOf(approval);
    for (const readOnly of [false, true, false]) {
      const decision = storedPolicy.decide(user('READER'), ofOperator('docs'), { name: 'search', readOnly });
      expect(decision).toBe(readOnly ? 'run' : 'absent');
    }
    expect(decide(approval, 'docs/search', 'STRANGE')).toBe('absent');
    expect(decide({ mode: 'default', roles }, 'docs/search')).toBe('run');
    expect(decide({ mode: 'default', roles }, 'docs/search', 'ADMIN')).toBe('ask');
  });

  test('a server goes by its name and its normalised name, and by no other', () => {
    for (const pattern of ['mcp:My Docs!:x', 'mcp:My_Docs:x']) {
      expect(decide({ deny: [pattern] }, 'My Docs!/x')).toBe('absent');
    }
    // A server whose name continues where a pattern has its colon.
    expect(decide({ mode: 'default', allow: ['mcp:docs:*'] }, 'docs:evil/x')).toBe('ask');
    expect(decide({ deny: ['mcp:docs_evil'] }, 'docs:evil/x')).toBe('absent');
    expect(decide({ deny: ['mcp:docs:a:b'] }, 'docs/a:b')).toBe('absent');
    expect(decide({ deny: ['mcp:DOCS'] }, 'docs/a')).toBe('run');
  });

  test('a user’s server is permitted by its whole name, and denied by any pattern', () => {
    const slip = (approval: Approval, role = 'USER') => {
      const policy = policyOf(approval);
      // The operator's first: what is remembered of it is not for its namesake.
      return [ofOperator('crm-x'), ofUser('crm-x'), ofOperator('crm-x')].map((server) =>
        policy.decide(user(role), server, { name: 'read', readOnly: false }),
      );
    };
    for (const pattern of ['mcp:crm-*:*', 'mcp:crm-?', 'mcp:*:read', 'mcp:*', '*']) {
      expect(slip({ mode: 'default', allow: [pattern] })).toEqual(['run', 'ask', 'run']);
      expect(slip({ roles: { USER: { allow: [pattern] } } })).toEqual(['run', 'absent', 'run']);
      expect(slip({ deny: [pattern] })).toEqual(['absent', 'absent', 'absent']);
      expect(slip({ ask: [pattern] })).toEqual(['ask', 'ask', 'ask']);
    }
    for (const pattern of ['mcp:crm-x', 'mcp:crm-x:r*']) {
      expect(slip({ mode: 'default', allow: ['mcp:crm-*', pattern] })).toEqual(['run', 'run', 'run']);
      expect(slip({ roles: { USER: { allow: [pattern] } } })).toEqual(['run', 'run', 'run']);
    }
  });

  test('nobody can be asked for a program, so what would ask is not there', () => {
    const policy = policyOf({ ask: ['mcp:docs:write'] });
    const program = { kind: 'service', role: 'USER' } as const;
    const decide = (caller: typeof program | ReturnType<typeof user>, name: string) =>
      policy.decide(caller, ofOperator('docs'), { name, readOnly: false });
    expect([decide(user(), 'write'), decide(program, 'write'), decide(program, 'read')]).toEqual([
      'ask',
      'absent',
      'run',
    ]);
  });

  test('what any deny names never runs, whatever else is written', () => {
    fc.assert(
      fc.property(
        anyApproval,
        anyServer,
        anyName,
        anyRole,
        fc.boolean(),
        (approval, server, name, role, readOnly) => {
          const decision = policyOf(approval).decide(user(role), ofOperator(server), { name, readOnly });
          const denied = [approval.deny, approval.roles?.[role]?.deny].some((list) =>
            list?.some((pattern) => names(pattern, server, name)),
          );
          if (denied) expect(decision).toBe('absent');
          const own = approval.roles?.[role];
          if (own?.readOnlyOnly && !readOnly) expect(decision).toBe('absent');
          if (own?.allow && own.allow.length > 0 && !own.allow.some((p) => names(p, server, name)))
            expect(decision).toBe('absent');
          if (approval.enabled === false || approval.mode === 'bypass' || approval.mode === 'dontAsk')
            expect(decision).not.toBe('ask');
        },
      ),
      { numRuns: 500 },
    );
  });

  test('asking twice, in any order, changes no answer', () => {
    const question = fc.record({ server: anyServer, name: anyName, role: anyRole, readOnly: fc.boolean() });
    fc.assert(
      fc.property(anyApproval, fc.array(question, { maxLength: 20 }), (approval, questions) => {
        const storedPolicy = policyOf(approval);
        for (const { server, name, role, readOnly } of [...questions, ...questions]) {
          const decisionInput = [user(role), ofOperator(server), { name, readOnly }] as const;
          expect(storedPolicy.decide(...decisionInput)).toBe(policyOf(approval).decide(...decisionInput));
        }
      }),
    );
  });

  test('what is listed is what a call finds, and the definition is asked too', () => {
    const filters = fc.record(
      {
        include: fc.array(fc.constantFrom('a*', '*', 'b'), { maxLength: 2 }),
        exclude: fc.array(fc.constantFrom('ab', '*c'), { maxLength: 2 }),
        readOnlyOnly: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        anyApproval,
        filters,
        anyName,
        anyRole,
        fc.boolean(),
        (approval, tools, name, role, hint) => {
          const server = { ...ofOperator('docs'), settings: compileSettings({ tools }) };
          const tool = { name, annotations: { readOnlyHint: hint } };
          const policy = policyOf(approval);
          const decision = decideTool(policy, user(role), server, tool);
          expect(isToolAvailable(policy, user(role), server, tool)).toBe(decision !== 'absent');
          const hidden =
            tools.exclude?.some((glob) => matchesGlob(glob, name)) ||
            (tools.include && !tools.include.some((glob) => matchesGlob(glob, name))) ||
            (tools.readOnlyOnly && !hint);
          if (hidden) expect(decision).toBe('absent');
          else expect(decision).toBe(policy.decide(user(role), server, { name, readOnly: hint }));
        },
      ),
    );
    // Only the word `true` counts.
    const policy = policyOf({ roles: { USER: { readOnlyOnly: true } } });
    const server = { ...ofOperator('docs'), settings: compileSettings() };
    for (const annotations of [undefined, {}, { readOnlyHint: 'true' }, { readOnlyHint: 1 }]) {
      expect(isToolAvailable(policy, user(), server, { name: 'x', annotations })).toBe(false);
    }
  });

  test('what is remembered has an end', () => {
    const decisions = createDecisionCache(10);
    for (let i = 0; i < 100; i += 1) {
      const tool = { name: `t${i}`, readOnly: i % 2 === 0 };
      const docs = i % 3 === 0 ? ofOperator('docs') : ofUser('docs');
      decisions.set('USER', docs, tool, 'ask');
      expect(decisions.get('USER', docs, tool)).toBe('ask');
      expect(decisions.get('USER', docs, { ...tool, readOnly: !tool.readOnly })).toBeUndefined();
      expect(decisions.get('USER', { ...docs, name: 'other' }, tool)).toBeUndefined();
      expect(decisions.get('ADMIN', docs, tool)).toBeUndefined();
      expect(decisions.size).toBeLessThanOrEqual(10);
    }
  });
});

const anyName = fc.constantFrom('a', 'ab', 'abc', 'b', 'a:b');
const anyServer = fc.constantFrom('docs', 'Docs!', 'do:cs', 'mail');
const anyRole = fc.constantFrom('USER', 'ADMIN', 'READER');
const anyPattern = fc.constantFrom(
  '*',
  'mcp:*',
  'mcp:docs',
  'mcp:Docs',
  'mcp:do_cs:*',
  'mcp:*:a*',
  'mcp:docs:ab',
  'mcp:d*:?b*',
  'mcp:mail:a:b',
  'execute_code',
);
const lists = {
  allow: fc.array(anyPattern, { maxLength: 2 }),
  deny: fc.array(anyPattern, { maxLength: 2 }),
  ask: fc.array(anyPattern, { maxLength: 2 }),
};
const anyApproval: fc.Arbitrary<Approval> = fc.record(
  {
    enabled: fc.boolean(),
    mode: fc.constantFrom('default' as const, 'dontAsk' as const, 'bypass' as const),
    ...lists,
    roles: fc.dictionary(anyRole, fc.record({ ...lists, readOnlyOnly: fc.boolean() }, { requiredKeys: [] }), {
      maxKeys: 3,
    }),
  },
  { requiredKeys: [] },
);

/** What a pattern names, told in another way than the code does: by a regular expression. */
function names(pattern: string, server: string, tool: string): boolean {
  if (pattern === '*') return true;
  const [prefix, serverGlob = '', ...rest] = pattern.split(':');
  if (prefix !== 'mcp') return false;
  const toolGlob = rest.length === 0 ? '*' : rest.join(':');
  const normalized = server.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replaceAll(/^_+|_+$/g, '');
  return (
    expression(toolGlob).test(tool) && [server, normalized].some((name) => expression(serverGlob).test(name))
  );
}

function expression(glob: string): RegExp {
  return new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
