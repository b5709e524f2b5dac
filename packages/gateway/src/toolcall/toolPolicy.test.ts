import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { defineServer, captureRejection, createToolcallRig } from '../../test/toolcallRig.ts';
import { createToolPolicy } from '../tools/policy.ts';
import type { ServicePrincipal } from '../principal/principal.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { callTool } from './callTool.ts';
import { listTools } from './list.ts';

const tools = ['read', 'write', 'erase'].map((name) => ({ name, inputSchema: { type: 'object' } }));

function createRig() {
  const rig = createToolcallRig([defineServer('files')], tools);
  const call = (tool: string, principal = aPrincipal()) =>
    callTool(rig.parts, { server: 'files', tool, args: { path: '/a' } }, rig.inbound({ principal }));
  const listed = async (principal = aPrincipal()) =>
    (await listTools(rig.parts, rig.inbound({ principal }))).flatMap((entry) =>
      entry.tools.map(({ name }) => name),
    );
  return { rig, call, listed };
}

describe('the policy on tools, on the way of a call', () => {
  test('what is denied is neither listed nor called, for this role alone', async () => {
    const { rig, call, listed } = createRig();
    rig.policy = createToolPolicy({
      deny: ['mcp:files:erase'],
      roles: { USER: { deny: ['mcp:files:write'] } },
    } as never);
    const admin = aPrincipal({ role: 'ADMIN' });
    expect(await listed()).toEqual(['read']);
    expect(await listed(admin)).toEqual(['read', 'write']);
    expect(await captureRejection(call('write'))).toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
    expect(await captureRejection(call('erase', admin))).toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
    expect(rig.calls()).toEqual([]);
    await call('write', admin);
    await call('read');
    expect(rig.calls()).toHaveLength(2);
  });

  test('nothing is spent before its user approved, and once is once', async () => {
    const { rig, call, listed } = createRig();
    rig.policy = createToolPolicy({ ask: ['mcp:files:erase'] });
    expect(await listed()).toContain('erase');
    const before = rig.spent();
    expect(await captureRejection(call('erase'))).toMatchObject({
      code: 'MCP_APPROVAL_REQUIRED',
      approval: { id: 'approval' },
    });
    expect(rig.spent()).toEqual(before);
    rig.approved.push(true);
    await call('erase');
    expect(await captureRejection(call('erase'))).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
    expect(rig.calls()).toHaveLength(1);
    expect(rig.audited.map(({ outcome }) => outcome)).toEqual(['refused', 'ok', 'refused']);
  });

  test('a program, which has nobody to ask, does not find such a tool', async () => {
    const { rig, call, listed } = createRig();
    rig.policy = createToolPolicy({ ask: ['mcp:files:erase'] });
    const robot = { ...aPrincipal({ userId: 'service:x' }), kind: 'service' } as unknown as ServicePrincipal;
    expect(await listed(robot as never)).not.toContain('erase');
    rig.approved.push(true);
    expect(await captureRejection(call('erase', robot as never))).toMatchObject({
      code: 'MCP_TOOL_NOT_FOUND',
    });
  });

  test('a tool that turns out to have changed asks again', async () => {
    const { rig, call } = createRig();
    rig.policy = createToolPolicy({ ask: ['mcp:files:erase'] });
    rig.approved.push(true);
    rig.answers = () => {
      throw new UpstreamError('header_mismatch');
    };
    expect(await captureRejection(call('erase'))).toMatchObject({ code: 'MCP_APPROVAL_REQUIRED' });
    expect(rig.calls()).toHaveLength(1);
  });
});
