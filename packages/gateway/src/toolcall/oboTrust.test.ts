import { describe, expect, test } from '@jest/globals';
import { defineServer, captureRejection, createToolcallRig } from '../../test/toolcallRig.ts';
import { callTool } from './callTool.ts';
import { listServer, listTools } from './list.ts';
import { readServer } from './read.ts';

describe('a server that users’ own tokens would go to', () => {
  test('nothing is obtained and nothing is sent while nobody who may decides about it', async () => {
    const rig = createToolcallRig([
      defineServer('mail', { obo: { scopes: 'mail.read' } }),
      defineServer('plain'),
    ]);
    rig.isTrusted = false;
    const call = (server: string) => callTool(rig.parts, { server, tool: 'echo', args: {} }, rig.inbound());
    const reading = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    const forbidden = { code: 'MCP_OBO_FORBIDDEN' };
    expect(await captureRejection(call('mail'))).toMatchObject(forbidden);
    expect(await captureRejection(readServer(rig.parts, 'mail', reading, rig.inbound()))).toMatchObject(
      forbidden,
    );
    expect(
      await captureRejection(listServer(rig.parts, 'mail', 'prompts/list', rig.inbound())),
    ).toMatchObject(forbidden);
    expect(rig.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
    // Written down as nobody's: no token was exchanged.
    expect(rig.audited).toMatchObject([
      { outcome: 'refused', code: 'MCP_OBO_FORBIDDEN', authority: undefined, scopes: undefined },
      { outcome: 'refused', code: 'MCP_OBO_FORBIDDEN' },
    ]);
    const listed = await listTools(rig.parts, rig.inbound());
    expect(listed.map(({ server, tools }) => [server.name, tools.length])).toEqual([
      ['mail', 0],
      ['plain', 1],
    ]);
    rig.isTrusted = true;
    await call('mail');
    await call('plain');
    expect(rig.calls()).toHaveLength(2);
  });
});
