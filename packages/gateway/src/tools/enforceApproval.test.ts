import { stableStringify } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAppSnapshot } from '../../test/servers.ts';
import { adaUser } from '../../test/toolcallRig.ts';
import type { GatewayError } from '../errors/gatewayError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { type ApprovableCall, enforceApproval, hashArguments, hashTool } from './approvals.ts';
import type { CatalogTool } from './catalog.ts';
import { buildToolList } from './toolList.ts';

const server = createAppSnapshot();

function toolOf(more: JsonObject = {}): CatalogTool {
  const definition = { name: 'create', description: 'Creates.', inputSchema: { type: 'object' }, ...more };
  const listed = { items: [definition], complete: true, era: 'legacy' } as const;
  const tool = buildToolList(server, listed, () => undefined).find('create');
  if (!tool) throw new Error('It was dropped');
  return tool;
}

/** Approvals that know what is approved, and note what is asked. */
function fakeApprovals(approved: (run: ApprovableCall) => boolean) {
  const requests: { argumentNames: readonly string[]; door: string }[] = [];
  return {
    requests,
    consume: async (run: ApprovableCall) => approved(run),
    request: async ({ argumentNames, door }: { argumentNames: readonly string[]; door: string }) => {
      requests.push({ argumentNames, door });
      return { id: 'an-id', expiresAt: 17 };
    },
  };
}

describe('a call that asks first', () => {
  const call = {
    principal: adaUser,
    server,
    tool: toolOf(),
    args: { title: 'secret value', n: 1 },
    door: 'mcp',
  } as const;

  test('it is refused with the id to approve, and runs when it is approved', async () => {
    const none = fakeApprovals(() => false);
    const error = await enforceApproval({ approvals: none }, call).then(
      () => undefined,
      (thrown: unknown) => thrown as GatewayError,
    );
    expect([error?.code, error?.approval]).toEqual(['MCP_APPROVAL_REQUIRED', { id: 'an-id', expiresAt: 17 }]);
    expect(error?.detail).toContain('/api/mcp/approvals/an-id');
    expect(none.requests).toEqual([{ argumentNames: ['title', 'n'], door: 'mcp' }]);
    const all = fakeApprovals(() => true);
    await enforceApproval({ approvals: all }, call);
    expect(all.requests).toEqual([]);
  });

  test('what a person read of the tool is part of what they approved', () => {
    const known = hashTool(toolOf());
    expect(hashTool(toolOf({ inputSchema: { type: 'object' }, _meta: { at: 2 }, outputSchema: {} }))).toBe(
      known,
    );
    const changes: JsonObject[] = [
      { description: 'Creates, and sends your files along.' },
      { title: 'Read only' },
      { inputSchema: { type: 'object', properties: { file: {} } } },
      { annotations: { readOnlyHint: true } },
    ];
    for (const change of changes)
      expect([change, hashTool(toolOf(change)) === known]).toEqual([change, false]);
    const schema = { type: 'object', properties: { a: {}, b: {} } };
    const turned = { properties: { b: {}, a: {} }, type: 'object' };
    expect(hashTool(toolOf({ inputSchema: schema }))).toBe(hashTool(toolOf({ inputSchema: turned })));
  });

  test('the call that runs is the call that was approved', async () => {
    const seen: ApprovableCall[] = [];
    const approvals = fakeApprovals((run) => seen.push(run) > 0);
    await enforceApproval({ approvals }, call);
    expect(seen).toEqual([
      {
        principal: adaUser,
        server,
        tool: 'create',
        toolHash: hashTool(call.tool),
        argsHash: hashArguments(call.args),
      },
    ]);
  });

  test('arguments are the same whatever the order of their keys, and never else', () => {
    expect(hashArguments({ a: 1, b: { c: [1, 2], d: 'x' } })).toBe(
      hashArguments({ b: { d: 'x', c: [1, 2] }, a: 1 }),
    );
    for (const other of [
      { a: '1' },
      { a: [1] },
      { a: 1, b: null },
      { a: null },
      {},
      { ' a': 1 },
      { a: { a: 1 } },
    ]) {
      expect(hashArguments(other as JsonObject)).not.toBe(hashArguments({ a: 1 }));
    }
    expect(hashArguments({ a: [1, 2] })).not.toBe(hashArguments({ a: [2, 1] }));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, two) => {
        expect(JSON.parse(stableStringify(one))).toEqual(JSON.parse(JSON.stringify(one)));
        const same = stableStringify(one) === stableStringify(two);
        expect(same).toBe(sorted(one) === sorted(two));
      }),
    );
    let deep: unknown = 1;
    for (let i = 0; i < 1_000; i += 1) deep = [deep];
    expect(stableStringify(deep)).toHaveLength(2_001);
  });
});

/** The same text for the same value, by way of JSON's own writer. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
