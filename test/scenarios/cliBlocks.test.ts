import { describe, expect, test } from '@jest/globals';
import { saveBlock, shareBlock, sharingSettings } from './blockRig.ts';
import { createCli, createApiKey } from './cliRig.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const inputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Which file' },
    lines: { type: 'integer' },
    mark: { type: 'string' },
  },
  required: ['path', 'lines', 'mark'],
};

describe('behalf block', () => {
  const rig = createGatewayRig();

  test('lists, checks and runs blocks, and names all that is missing before anything is sent', async () => {
    const handler = (args: object) => ({
      content: [{ type: 'text', text: `\u001b[2Jread ${JSON.stringify(args)}` }],
    });
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'read', inputSchema, handler }] });
    const keyed = httpDefinition(server.url, {
      headers: { 'x-key': '{{KEY}}' },
      customUserVars: { KEY: { title: 'Key', description: 'Your key' } },
    });
    const yaml = renderYaml({ files: keyed }, sharingSettings);
    const [ada, bob] = (await rig.start(yaml, ['Ada', 'Bob'])) as [TestUser, TestUser];
    const set = { pluginKey: 'mcp_files', action: 'install', auth: { KEY: 'k' } };
    await ada.post('/api/user/plugins', set);
    const inputs = { mark: { mode: 'fixed', value: '!' } };
    const { id } = await saveBlock(ada, { server: 'files', tool: 'read', title: 'Read', inputs });
    await shareBlock(ada, id, [bob]);
    const command = createCli(rig.gateway.url, await createApiKey(ada, 'mcp'));
    const ofBob = createCli(rig.gateway.url, await createApiKey(bob, 'mcp'));
    const listed = await command(['block', 'list']);
    expect([listed.code, listed.out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`${id} +Read +files +read`)),
    ]);
    const requestCount = server.received('tools/call').length;
    const missing = await ofBob(['block', 'run', id, '--json']);
    expect([missing.code, missing.json()]).toMatchObject([
      2,
      {
        error: {
          code: 'BLOCK_INCOMPLETE',
          problems: [
            'path is missing: Which file',
            'lines is missing',
            expect.stringMatching(/^values at files are missing: KEY; enter them at \/servers\/files/),
          ],
        },
      },
    ]);
    const all = ['--arg', 'path=a.txt', '--arg', 'lines=3'];
    expect((await ofBob(['block', 'run', id, ...all])).code).toBe(5);
    expect((await ofBob(['block', 'check', id, ...all])).code).toBe(5);
    const wrong = await command(['block', 'run', id, '--arg', 'lines=x']);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('lines')]);
    const fixed = await command(['block', 'check', id, ...all, '--arg', 'mark=?']);
    expect([fixed.code, fixed.out]).toEqual([2, expect.stringContaining('is fixed by the block')]);
    expect((await command(['block', 'run', 'unknown'])).code).toBe(6);
    expect(server.received('tools/call')).toHaveLength(requestCount);
    expect(await command(['block', 'check', id, ...all])).toMatchObject({ code: 0, out: 'ready\n' });
    const ran = await command(['block', 'run', id, ...all]);
    expect([ran.code, ran.out]).toEqual([0, '[2Jread {"mark":"!","path":"a.txt","lines":3}\n']);
  }, 60_000);
});
