import type { ModelScript } from '@behalf/devidp/sample';
import {
  describeWith,
  scriptedError,
  scriptedHttpServer,
  type ScriptedHttpServer,
  type ScriptedTool,
} from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { oboUsers } from './oboScene.ts';
import { harmful, harmfulAddress, watch, type Watched } from './webHarm.ts';
import { askRest, createServer } from './webRest.ts';
import { startWebScene, type WebScene } from './webScene.ts';

/** Titles are held to few letters by the gateway. The page must not rely on it. */
const TITLE = 'Evil twin';
const NAME = `<img src=x onerror=window.harm='name'>`;
const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.harm='svg'"/>`);

const tools: ScriptedTool[] = [
  {
    name: NAME,
    title: harmful('tool-title'),
    description: harmful('tool-text'),
    inputSchema: {
      type: 'object',
      properties: {
        [harmful('field')]: { type: 'string', description: harmful('field-text') },
        choice: { type: 'string', title: harmful('choice'), enum: [harmful('option'), 'other'] },
        group: {
          type: 'object',
          title: harmful('group'),
          properties: { inner: { type: 'string', default: harmful('default') } },
        },
      },
      required: ['group'],
    },
    handler: (_args, call) => {
      call.log('info', harmful('log'));
      return {
        content: [
          { type: 'text', text: harmful('result') },
          { type: 'resource_link', uri: harmfulAddress('link'), name: harmful('link-name') },
          { type: 'image', data: SVG.toString('base64'), mimeType: 'image/svg+xml' },
          {
            type: 'resource',
            resource: { uri: 'ui://page', mimeType: 'text/html', text: harmful('page') },
          },
        ],
        structuredContent: {
          rows: [{ [harmful('column')]: harmful('cell'), address: harmfulAddress('value') }],
        },
      };
    },
  },
  {
    name: 'failing',
    description: 'Says that it failed',
    handler: () => ({ isError: true, content: [{ type: 'text', text: harmful('failure') }] }),
  },
  {
    name: 'refusing',
    description: 'Answers with an error',
    handler: () => {
      throw scriptedError(-32_000, harmful('error'));
    },
  },
];

const markdown = `# ${harmful('heading')}

${harmful('inline')}

<div onclick="window.harm='block'">block</div>

<iframe src="https://elsewhere.test/frame"></iframe>

[a link](${harmfulAddress('markdown')}) and [a named one][named], <${harmfulAddress('pointed')}>

![a picture](https://elsewhere.test/picture.png)

| ${harmful('head')} | b |
| --- | --- |
| ${harmful('body')} | [c](data:text/html,<script>window.harm='data'</script>) |

[named]: ${harmfulAddress('named')}

The end of it.`;

/** Calls all of them, then says the worst it can. */
const script: ModelScript = function* ({ messages, tools: shown }) {
  if (messages.at(-1)?.role === 'tool') {
    yield markdown;
    return;
  }
  const isAsked = messages.at(-1)?.content === 'Ask me first';
  const ours = shown
    .map(({ function: { name } }) => name)
    .filter((name) => name.includes(isAsked ? 'wicked' : 'server'))
    .slice(0, isAsked ? 1 : undefined);
  yield {
    calls: ours.map((name) => ({ name, args: { group: {}, [harmful('argument')]: harmful('sent') } })),
  };
};

describeWith('chromium', 'texts that want to be more than texts', () => {
  let scene: WebScene;
  let evil: ScriptedHttpServer;
  beforeAll(async () => {
    evil = await scriptedHttpServer({ era: 'legacy', tools, instructions: harmful('instructions') });
    const mal = { id: 'mal', email: 'mal@example.test', name: harmful('person'), roles: ['USER'] };
    scene = await startWebScene({
      script,
      servers: `  evil:
    type: streamable-http
    url: ${evil.url}
    title: ${TITLE}
    description: ${JSON.stringify(harmful('server-text'))}
  wicked: { type: streamable-http, url: '${evil.url}', title: ${TITLE} }
  greedy:
    type: streamable-http
    url: ${evil.url}
    headers: { x-value: '{{VALUE}}' }
    customUserVars:
      VALUE:
        title: ${JSON.stringify(harmful('value-title'))}
        description: ${JSON.stringify(harmful('value-text'))}`,
      asks: ['mcp:wicked:*'],
      addresses: [new URL(evil.url).host],
      users: [...oboUsers, mal],
    });
  }, 120_000);
  afterAll(async () => {
    await scene?.close();
    await evil?.close();
  });

  async function visit(user: string, path: string): Promise<{ page: Page; watched: Watched }> {
    const page = await scene.visit(user, { at: path });
    const title = inJson(harmful('server'));
    await page.route('**/api/**', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(TITLE, title) });
    });
    return { page, watched: await watch(page) };
  }
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  /** It stands there, letter by letter. */
  const shown = (page: Page, text: string) =>
    page.getByText(text).filter({ visible: true }).first().waitFor();
  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();

  test('what a server says of its tools, and what they give, is text on the page of the tools', async () => {
    const { page, watched } = await visit('uma', `/tools/evil/${encodeURIComponent(NAME)}`);
    for (const place of ['tool-title', 'tool-text', 'field', 'field-text', 'choice', 'group'])
      await shown(page, harmful(place));
    expect(await page.getByRole('textbox', { name: 'inner' }).inputValue()).toBe(harmful('default'));
    await watched.expectNoHarm();
    await run(page);
    for (const place of ['result', 'link-name', 'page', 'column', 'cell']) await shown(page, harmful(place));
    await shown(page, harmful('log'));
    for (const place of ['link', 'value']) await shown(page, harmfulAddress(place));
    await watched.expectNoHarm();

    await page.goto(`${scene.home}/tools/evil/failing`);
    await run(page);
    await shown(page, harmful('failure'));
    await page.goto(`${scene.home}/tools/evil/refusing`);
    await run(page);
    await shown(page, harmful('error'));
    await watched.expectNoHarm();
    await watched.expectToNotice();
    await page.context().close();
  }, 120_000);

  test('what a server says of a tool, and what an author says of a block, is text wherever a block stands', async () => {
    const { page, watched } = await visit('uma', `/blocks/new?server=evil&tool=${encodeURIComponent(NAME)}`);
    for (const place of ['tool-text', 'field', 'field-text', 'choice', 'group'])
      await shown(page, harmful(place));
    await page.getByRole('textbox', { name: 'Title' }).fill(harmful('block-title'));
    await page.getByRole('textbox', { name: 'Description' }).fill(harmful('block-text'));
    const input = page.getByRole('group', { name: `Input ${harmful('field')}`, exact: true });
    await input.getByRole('radio', { name: 'Fixed' }).check();
    await page.getByRole('textbox', { name: harmful('field') }).fill(harmful('fixed'));
    await watched.expectNoHarm();
    await page.getByRole('button', { name: 'Save block' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    for (const place of ['block-title', 'block-text', 'fixed', 'server']) await shown(page, harmful(place));
    await shown(page, harmful('tool-title'));
    await run(page);
    for (const place of ['result', 'link-name', 'cell']) await shown(page, harmful(place));
    await watched.expectNoHarm();
    await page.getByRole('link', { name: 'All blocks' }).click();
    for (const place of ['block-title', 'block-text']) await shown(page, harmful(place));
    await watched.expectNoHarm();
    await page.context().close();
  }, 120_000);

  test('what a server says of its tools before it is saved is text in the dialog that finds it', async () => {
    const { page, watched } = await visit('ada', '/servers?add=1');
    await page.getByRole('textbox', { name: /^URL/ }).fill(evil.url);
    await page.getByRole('button', { name: 'Continue' }).click();
    for (const place of ['tool-title', 'tool-text']) await shown(page, harmful(place));
    await shown(page, NAME);
    await watched.expectNoHarm();
    await page.context().close();
  }, 120_000);

  test('what a model writes, what it sends to tools and what they give is text in the chat, also when it is read again', async () => {
    const { page, watched } = await visit('uma', '/chat');
    await page.getByRole('textbox', { name: 'Your message' }).fill(harmful('question'));
    await page.keyboard.press('Enter');
    const lookAround = async () => {
      await page.getByText('The end of it.', { exact: true }).waitFor();
      const places = [
        'question',
        'server',
        'result',
        'failure',
        'error',
        'heading',
        'inline',
        'head',
        'body',
      ];
      for (const place of places) await shown(page, harmful(place));
      await shown(page, harmful('tool-title'));
      await shown(page, `<div onclick="window.harm='block'">block</div>`);
      for (const place of ['markdown', 'named', 'pointed']) await shown(page, harmfulAddress(place));
      for (const summary of await page.getByText('Arguments', { exact: true }).all()) await summary.click();
      await shown(page, inJson(harmful('sent')));
      // A picture is not fetched; where it is can be seen.
      const picture = page.getByRole('link', { name: 'a picture (elsewhere.test)' });
      expect(await picture.getAttribute('rel')).toBe('noopener noreferrer');
      await watched.expectNoHarm();
    };
    await lookAround();
    await page.reload();
    await lookAround();
    await watched.expectToNotice();
    await page.context().close();
  }, 120_000);

  test('names and arguments are text in the question whether a tool may run, by hand and in the chat', async () => {
    const { page, watched } = await visit('uma', `/tools/wicked/${encodeURIComponent(NAME)}`);
    const question = page.getByRole('group', { name: 'Allow this tool call?' });
    const lookAt = async (...texts: readonly string[]) => {
      for (const text of texts) await question.getByText(text).first().waitFor();
      await watched.expectNoHarm();
      await question.getByRole('button', { name: 'Deny' }).click();
      await question.waitFor({ state: 'detached' });
    };
    await run(page);
    await lookAt(NAME, harmful('server'), inJson(harmful('default')));
    // An answer that waits for its question cannot be read to its end first.
    await page.unrouteAll();
    await page.goto(`${scene.home}/chat`);
    await page.getByRole('textbox', { name: 'Your message' }).fill('Ask me first');
    await page.keyboard.press('Enter');
    await lookAt(NAME, inJson(harmful('sent')));
    await watched.expectNoHarm();
    await page.context().close();
  }, 120_000);

  test('titles and descriptions are text in what a server wants of its users, and in the dialogs about it', async () => {
    const { page, watched } = await visit('ada', '/servers/greedy');
    for (const place of ['value-title', 'value-text']) await shown(page, harmful(place));
    await page.getByRole('textbox', { name: harmful('value-title') }).fill('a value');
    await page.getByRole('button', { name: 'Save values' }).click();
    await page.getByRole('button', { name: `Clear ${harmful('value-title')}` }).click();
    await shown(page, `${harmful('value-title')} cleared`);
    await watched.expectNoHarm();

    const name = await createServer(page, { type: 'streamable-http', title: TITLE, url: evil.url });
    await page.goto(`${scene.home}/servers/${name}`);
    for (const [button, title] of [
      ['Edit', `Edit “${harmful('server')}”`],
      ['Share', `Share “${harmful('server')}”`],
      ['Delete', `Delete “${harmful('server')}”?`],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await watched.expectNoHarm();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await watched.expectToNotice();
    await page.context().close();
  }, 120_000);

  test('titles and descriptions of servers are text on their pages', async () => {
    const { page, watched } = await visit('uma', '/servers');
    for (const place of ['server', 'server-text']) await shown(page, harmful(place));
    await watched.expectNoHarm();
    await page.goto(`${scene.home}/servers/evil`);
    for (const place of ['server', 'server-text', 'tool-text']) await shown(page, harmful(place));
    await shown(page, NAME);
    await watched.expectNoHarm();
    await page.context().close();
  }, 120_000);

  test('names of people, of roles and of what they did are text in the administration', async () => {
    const mal = await visit('mal', `/tools/evil/${encodeURIComponent(NAME)}`);
    await shown(mal.page, harmful('person'));
    await run(mal.page);
    await shown(mal.page, harmful('result'));
    await mal.watched.expectNoHarm();
    await mal.page.context().close();

    const { page, watched } = await visit('ada', '/admin');
    await askRest(page, 'POST', '/api/admin/roles', { name: 'Odd', description: harmful('role') });
    const panels: Record<string, string> = {
      overview: 'server',
      roles: harmful('role'),
      users: harmful('person'),
      audit: NAME,
      connections: 'server',
      config: harmful('server'),
    };
    for (const [panel, text] of Object.entries(panels)) {
      await page.goto(`${scene.home}/admin/${panel}`);
      if (panel === 'config') await page.getByText('evil:').click();
      await shown(page, text);
      await watched.expectNoHarm();
    }
    await page.goto(`${scene.home}/admin/audit`);
    await page.getByRole('button', { name: NAME }).first().click();
    await page.getByRole('dialog').waitFor();
    await watched.expectNoHarm();
    await page.context().close();
  }, 120_000);
});
