import { describe, expect, test } from '@jest/globals';
import { defineServer, createToolcallRig } from '../../test/toolcallRig.ts';
import { callTool } from './callTool.ts';

describe('a call that names a server by its id', () => {
  test('does not reach another one that has its name by now', async () => {
    const rig = createToolcallRig([defineServer('files')]);
    const call = { server: 'files', tool: 'echo', args: {} };
    const other = callTool(rig.parts, { ...call, serverId: 'the-one-before' }, rig.inbound());
    await expect(other).rejects.toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
    expect(rig.sent).toEqual([]);
    await callTool(rig.parts, { ...call, serverId: 'files' }, rig.inbound());
    expect(rig.sent.map(({ method }) => method)).toContain('tools/call');
  });
});
