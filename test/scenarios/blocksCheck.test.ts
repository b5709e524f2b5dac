import { BlockCheckView, type BlockView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { readResponse, checkBlock, runBlock, saveBlock, shareBlock, sharingSettings } from './blockRig.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const text = { type: 'string' };
const inputSchema = { type: 'object', properties: { text }, required: ['text'], additionalProperties: false };

describe('checking blocks', () => {
  const rig = createGatewayRig();
  const keyed = (url: string, name: string) =>
    httpDefinition(url, {
      headers: { 'x-key': `{{${name}}}` },
      customUserVars: { [name]: { title: name, description: `Your ${name}` } },
    });
  const setValue = (who: TestUser, server: string, name: string) =>
    who.post('/api/user/plugins', { pluginKey: `mcp_${server}`, action: 'install', auth: { [name]: 'v' } });

  test('all that is missing of all blocks, once each: servers of one address together, by name, whatever was asked first', async () => {
    const tools = [{ name: 'echo', inputSchema }];
    const [one, two] = [
      await rig.startServer({ era: 'legacy', tools }),
      await rig.startServer({ era: 'modern', tools }),
    ];
    const servers = {
      zeta: keyed(one.url, 'ZETA'),
      mid: keyed(two.url, 'MID'),
      alpha: keyed(`${one.url}?team=1`, 'ALPHA'),
    };
    const users = await rig.start(renderYaml(servers, sharingSettings), [
      'Ada',
      'Bob',
      { name: 'Root', role: 'ADMIN' },
    ]);
    const [ada, bob, root] = users as [TestUser, TestUser, TestUser];
    const ids: Record<string, string> = {};
    for (const server of ['mid', 'zeta', 'alpha']) {
      await setValue(ada, server, server.toUpperCase());
      ids[server] = (await saveBlock(ada, { server, tool: 'echo', title: server })).id;
    }
    const again = (await saveBlock(ada, { server: 'mid', tool: 'echo' })).id;
    const { mid = '', zeta = '', alpha = '' } = ids;
    for (const id of [mid, zeta, alpha, again]) await shareBlock(ada, id, [bob, root]);
    const requestCount = [one, two].map(({ requests }) => requests.length);
    const need = (server: string, ...blocks: string[]) => {
      const name = server.toUpperCase();
      const value = { name, title: name, description: `Your ${name}`, sensitive: true };
      return {
        ...{ kind: 'values', server, title: server, connectUrl: `/servers/${server}` },
        ...{ values: [value], blocks },
      };
    };
    const order = [mid, zeta, again, alpha];
    const view = BlockCheckView.parse((await checkBlock(bob, { ids: order })).body);
    expect(view.runs).toBe(false);
    expect(view.blocks.map(({ id, state }) => [id, state])).toEqual(order.map((id) => [id, 'incomplete']));
    expect(view.missing).toEqual({
      inputs: order.map((block) => ({ block, name: 'text' })),
      credentials: [
        { needs: [need('alpha', alpha), need('zeta', zeta)] },
        { needs: [need('mid', mid, again)] },
      ],
    });
    const turned = (await checkBlock(bob, { ids: [alpha, mid, zeta] })).body.missing.credentials;
    expect(turned.map(({ needs }) => needs.map(({ server }) => server))).toEqual([
      ['alpha', 'zeta'],
      ['mid'],
    ]);
    // Where a server is, is for those who may know it.
    expect(JSON.stringify(view)).not.toContain('127.0.0.1');
    const shown = (await checkBlock(root, { ids: [zeta, mid] })).body.missing.credentials;
    expect(shown.map(({ address }) => address)).toEqual([two.url, one.url]);
    expect([one, two].map(({ requests }) => requests.length)).toEqual(requestCount);
  });

  test('a block that is complete costs the list of tools at most, and nothing runs', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo', inputSchema }] });
    const yaml = renderYaml({ mine: keyed(server.url, 'KEY') }, sharingSettings);
    const [ada, bob] = (await rig.start(yaml, ['Ada', 'Bob'])) as [TestUser, TestUser];
    for (const who of [ada, bob]) await setValue(who, 'mine', 'KEY');
    const { id } = await saveBlock(ada, { server: 'mine', tool: 'echo' });
    await shareBlock(ada, id, [bob]);
    const lists = server.received('tools/list').length;
    const requestCount = server.requests.length;
    expect((await checkBlock(bob, { ids: [id] })).body).toMatchObject({
      blocks: [{ id, state: 'incomplete' }],
      missing: { inputs: [{ name: 'text' }], credentials: [] },
    });
    expect(server.requests).toHaveLength(requestCount);
    const inputs = { [id]: { text: 'x' } };
    for (let i = 0; i < 3; i += 1) {
      expect((await checkBlock(bob, { ids: [id, id], inputs })).body).toMatchObject({
        runs: true,
        blocks: [{ id, state: 'ready', runs: true, title: 'echo', tool: 'echo' }],
        missing: { inputs: [], credentials: [] },
      });
    }
    expect(server.received('tools/list')).toHaveLength(lists + 1);
    expect((await checkBlock(bob, { ids: [id], inputs: { [id]: { text: 7 } } })).body.blocks).toMatchObject([
      { state: 'broken', runs: false, errors: [{ path: 'arguments.text' }] },
    ]);
    expect(server.received('tools/call')).toEqual([]);
    expect((await checkBlock(bob, { ids: [] })).status).toBe(400);
  });

  test('what changed in the tool since saving is named, and whether the block still runs', async () => {
    const before = { type: 'object', properties: { text, old: text, size: text }, required: ['text'] };
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo', inputSchema: before }] });
    const [ada] = (await rig.start(renderYaml({ mine: httpDefinition(server.url) }, sharingSettings))) as [
      TestUser,
    ];
    const inputs = { size: { mode: 'fixed', value: 'big' } };
    const { id } = await saveBlock(ada, { server: 'mine', tool: 'echo', inputs });
    const givenInputs = { [id]: { text: 'x' } };
    const looked = async (more: object = {}) => {
      const { body } = await checkBlock(ada, { ids: [id], inputs: givenInputs, ...more });
      return { ...body.blocks[0], missing: body.missing };
    };
    expect(await looked()).not.toHaveProperty('drift');
    const change = async (schema: object, outputSchema?: object) => {
      const tool = { name: 'echo', inputSchema: schema, ...(outputSchema && { outputSchema }) };
      server.change({ tools: [tool as { name: string }] });
      expect((await ada.post('/api/mcp/mine/reinitialize', {})).status).toBe(200);
    };
    // A new field that must be there is asked for; the rest still fits.
    const properties = { text, size: { ...text, title: 'Size' }, lang: text };
    await change({ type: 'object', properties, required: ['text', 'lang'] }, { type: 'object' });
    const drift = {
      input: {
        ...{ added: ['lang'], removed: ['old'], changed: ['size'], required: ['lang'], optional: [] },
        other: false,
      },
      output: { added: [], removed: [], changed: [], required: [], optional: [], other: true },
    };
    expect(await looked()).toMatchObject({
      ...{ state: 'incomplete', runs: false, drift },
      missing: { inputs: [{ block: id, name: 'lang' }] },
    });
    expect(await looked({ inputs: { [id]: { text: 'x', lang: 'en' } } })).toMatchObject({
      ...{ state: 'ready', runs: true, drift },
    });
    expect((await runBlock(ada, id, { inputs: { text: 'x' } })).body.missing?.inputs).toEqual([
      { block: id, name: 'lang' },
    ]);
    // A fixed value that does not fit any more.
    await change({ type: 'object', properties: { text, size: { type: 'integer' } }, required: ['text'] });
    expect(await looked()).toMatchObject({
      ...{ state: 'broken', runs: false },
      errors: [{ path: 'inputs.size', code: 'wrong_type' }],
      drift: { input: { changed: ['size'], removed: ['old'] } },
    });
    expect(await runBlock(ada, id, { inputs: { text: 'x' } })).toMatchObject({
      ...{ status: 400, body: { code: 'MCP_ARGUMENTS_INVALID' } },
    });
    // Saved anew, it is of the tool as it is.
    const saved = await readResponse<BlockView>(
      ada.send('PATCH', `/api/mcp/blocks/${id}`, { inputs: { size: { mode: 'fixed', value: 3 } } }),
    );
    expect(saved.body.inputSchema).toMatchObject({ properties: { size: { type: 'integer' } } });
    expect(await looked()).toMatchObject({ state: 'ready', runs: true });
    expect(await looked()).not.toHaveProperty('drift');
    // And without the tool there is nothing to run.
    server.change({ tools: [{ name: 'other' }] });
    await ada.post('/api/mcp/mine/reinitialize', {});
    expect(await looked()).toMatchObject({ state: 'tool_gone', runs: false });
    expect(server.received('tools/call')).toEqual([]);
  });

  test('an input that the tool requires only now is named as missing, also when that is found out on the way', async () => {
    const tools = (required: string[]) => [{ name: 'echo', inputSchema: { ...inputSchema, required } }];
    const server = await rig.startServer({ era: 'legacy', tools: tools([]) });
    const [ada] = (await rig.start(renderYaml({ mine: keyed(server.url, 'KEY') }, sharingSettings))) as [
      TestUser,
    ];
    await setValue(ada, 'mine', 'KEY');
    const { id } = await saveBlock(ada, { server: 'mine', tool: 'echo' });
    server.change({ tools: tools(['text']) });
    // Of a server that is each user's own nothing is known there yet.
    const [again] = await rig.startReplica([ada]);
    const { status, body } = await runBlock(again!, id);
    expect([status, body.code, body.missing?.inputs]).toEqual([
      422,
      'BLOCK_INCOMPLETE',
      [{ block: id, name: 'text' }],
    ]);
    expect(server.received('tools/call')).toEqual([]);
  });

  test('what is fixed is not the runner’s to change; a default is', async () => {
    const schema = { type: 'object', properties: { to: text, text }, required: ['to', 'text'] };
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo', inputSchema: schema }] });
    const [ada] = (await rig.start(renderYaml({ mine: httpDefinition(server.url) }, sharingSettings))) as [
      TestUser,
    ];
    const inputs = { to: { mode: 'fixed', value: 'ada' }, text: { mode: 'default', value: 'hello' } };
    const { id } = await saveBlock(ada, { server: 'mine', tool: 'echo', inputs });
    const refused = await runBlock(ada, id, { inputs: { to: 'eve' } });
    expect([refused.status, refused.body.code, refused.body.errors?.map(({ path }) => path)]).toEqual([
      400,
      'BLOCK_INPUTS_INVALID',
      ['inputs.to'],
    ]);
    expect(server.received('tools/call')).toEqual([]);
    await runBlock(ada, id);
    await runBlock(ada, id, { inputs: { text: 'bye' } });
    expect(server.received('tools/call').map(({ message }) => message?.params?.['arguments'])).toEqual([
      { to: 'ada', text: 'hello' },
      { to: 'ada', text: 'bye' },
    ]);
  });

  test('a result that is not what the tool promises is told as such', async () => {
    let result: object = {};
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const tools = [{ name: 'count', outputSchema, handler: () => result as Record<string, unknown> }];
    const server = await rig.startServer({ era: 'legacy', tools });
    const [ada] = (await rig.start(renderYaml({ mine: httpDefinition(server.url) }, sharingSettings))) as [
      TestUser,
    ];
    const { id, outputSchema: storedSchema } = await saveBlock(ada, { server: 'mine', tool: 'count' });
    expect(storedSchema).toEqual(outputSchema);
    const checkWith = async (inputs: object) => {
      result = { content: [{ type: 'text', text: 'pl4nted' }], ...inputs };
      const { status, body } = await runBlock(ada, id);
      return [status, body.code, body.errors?.map(({ path }) => path), body.isError];
    };
    expect(await checkWith({ structuredContent: { n: 1 } })).toEqual([200, undefined, undefined, false]);
    expect(await checkWith({ structuredContent: { n: 'pl4nted' } })).toEqual([
      ...[502, 'BLOCK_OUTPUT_INVALID', ['structuredContent.n'], undefined],
    ]);
    expect(await checkWith({})).toEqual([502, 'BLOCK_OUTPUT_INVALID', ['structuredContent'], undefined]);
    expect(await checkWith({ isError: true })).toEqual([200, undefined, undefined, true]);
    // Over what arguments may be it is checked all the same; what is too large for that is nobody's promise.
    const more = (kib: number, n: unknown) => ({ structuredContent: { n, more: 'x'.repeat(kib * 1024) } });
    expect(await checkWith(more(512, 1))).toEqual([200, undefined, undefined, false]);
    expect((await checkWith(more(512, 'no'))).slice(0, 3)).toEqual([
      ...[502, 'BLOCK_OUTPUT_INVALID', ['structuredContent.n']],
    ]);
    expect((await checkWith(more(1_100, 1))).slice(0, 3)).toEqual([
      ...[502, 'BLOCK_OUTPUT_INVALID', ['structuredContent']],
    ]);
  });

  test('progress and the result come as events to who asks for them', async () => {
    const handler = (_args: object, { progress }: { progress: (done: number, all: number) => void }) => {
      progress(1, 2);
      return { content: [{ type: 'text', text: 'done' }] };
    };
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'slow', handler }] });
    const [ada] = (await rig.start(renderYaml({ mine: httpDefinition(server.url) }, sharingSettings))) as [
      TestUser,
    ];
    const { id } = await saveBlock(ada, { server: 'mine', tool: 'slow' });
    const headers = { accept: 'text/event-stream' };
    const response = await ada.post(`/api/mcp/blocks/${id}/run`, {}, { headers });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = await response.text();
    expect([...events.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)).toEqual(['progress', 'result']);
    expect(events).toContain('"text":"done"');
    const refused = await ada.post('/api/mcp/blocks/unknown/run', {}, { headers });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
  });
});
