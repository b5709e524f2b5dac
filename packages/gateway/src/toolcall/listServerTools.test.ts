import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { defineServer, captureRejection, rejectSignIn, createToolcallRig } from '../../test/toolcallRig.ts';
import { createToolPolicy } from '../tools/policy.ts';
import { listServerTools, listTools } from './list.ts';

const tools = [{ name: 'read', annotations: { readOnlyHint: true } }, { name: 'write' }, { name: 'erase' }];

describe('the tools of one server', () => {
  test('are those of the list of all servers, and no other is asked', async () => {
    for (const credential of [undefined, rejectSignIn]) {
      const rig = createToolcallRig(
        [defineServer('own', { requiresOAuth: true }), defineServer('all')],
        tools,
      );
      rig.credential = credential;
      const one = await listServerTools(rig.parts, rig.inbound(), 'own');
      expect(rig.leases.map(({ server }) => server)).toEqual(credential ? [] : ['own']);
      const listed = await listTools(rig.parts, rig.inbound());
      expect(one).toMatchObject(listed.find(({ server }) => server.name === 'own') ?? {});
    }
  });

  test('are without what is denied, and say which ask first', async () => {
    const rig = createToolcallRig([defineServer('files')], tools);
    rig.policy = createToolPolicy({
      deny: ['mcp:files:erase'],
      ask: ['mcp:files:write'],
      roles: { ADMIN: { ask: ['mcp:files:read'] } },
    } as never);
    const listTools = async (role: string) => {
      const principal = aPrincipal({ role });
      const listed = await listServerTools(rig.parts, rig.inbound({ principal }), 'files');
      return [listed.tools.map(({ name }) => name), [...listed.requiringApproval]];
    };
    expect(await listTools('USER')).toEqual([['read', 'write'], ['write']]);
    expect(await listTools('ADMIN')).toEqual([
      ['read', 'write'],
      ['read', 'write'],
    ]);
  });

  test('of a server that is not seen and of none at all are refused alike', async () => {
    const rig = createToolcallRig([defineServer('own'), defineServer('all')]);
    rig.canSee = (_principal, { name }) => name !== 'own';
    const readToolState = async (name: string, role = 'USER') => {
      const inbound = rig.inbound({ principal: aPrincipal({ role }) });
      return captureRejection(listServerTools(rig.parts, inbound, name));
    };
    expect(await readToolState('own')).toEqual(await readToolState('unheard'));
    expect(await readToolState('own')).toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
    expect(await readToolState('all', 'GUEST')).toMatchObject({ code: 'MCP_FORBIDDEN' });
    expect(rig.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
  });

  test('have the names that they have among those of all servers', async () => {
    // Known to models by one name.
    const rig = createToolcallRig(
      [defineServer('my files'), defineServer('my_files'), defineServer('other')],
      tools,
    );
    const clashing = async () => {
      const { tools: listed } = await listServerTools(rig.parts, rig.inbound(), 'my_files');
      return listed.map(({ publicName }) => publicName);
    };
    expect(await clashing()).toEqual(['read_mcp_my_files', 'write_mcp_my_files', 'erase_mcp_my_files']);
    const listed = await listTools(rig.parts, rig.inbound());
    const among = listed.find(({ server }) => server.name === 'my_files')?.tools ?? [];
    expect(await clashing()).toEqual(among.map(({ publicName }) => publicName));
    expect(await clashing()).not.toContain('read_mcp_my_files');
    // Of one that this caller does not see nothing is told, not even by a name.
    rig.canSee = (_principal, { name }) => name !== 'my files';
    expect(await clashing()).toContain('read_mcp_my_files');
  });
});
