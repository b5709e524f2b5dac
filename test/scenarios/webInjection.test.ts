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
import { oboUsers } from './oboRig.ts';
import { injectionText, injectionUrl, monitorInjections, type InjectionMonitor } from './webInjection.ts';
import { sendRest, createServerOverRest } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

/** Titles are held to few letters by the gateway. The page must not rely on it. */
const TITLE = 'Evil twin';
const NAME = `<img src=x onerror=window.harm='name'>`;
const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.harm='svg'"/>`);

const tools: ScriptedTool[] = [
  {
    name: NAME,
    title: injectionText('tool-title'),
    description: injectionText('tool-text'),
    inputSchema: {
      type: 'object',
      properties: {
        [injectionText('field')]: { type: 'string', description: injectionText('field-text') },
        choice: { type: 'string', title: injectionText('choice'), enum: [injectionText('option'), 'other'] },
        group: {
          type: 'object',
          title: injectionText('group'),
          properties: { inner: { type: 'string', default: injectionText('default') } },
        },
      },
      required: ['group'],
    },
    handler: (_args, call) => {
      call.log('info', injectionText('log'));
      return {
        content: [
          { type: 'text', text: injectionText('result') },
          { type: 'resource_link', uri: injectionUrl('link'), name: injectionText('link-name') },
          { type: 'image', data: SVG.toString('base64'), mimeType: 'image/svg+xml' },
          {
            type: 'resource',
            resource: { uri: 'ui://page', mimeType: 'text/html', text: injectionText('page') },
          },
        ],
        structuredContent: {
          rows: [{ [injectionText('column')]: injectionText('cell'), address: injectionUrl('value') }],
        },
      };
    },
  },
  {
    name: 'failing',
    description: 'Says that it failed',
    handler: () => ({ isError: true, content: [{ type: 'text', text: injectionText('failure') }] }),
  },
  {
    name: 'refusing',
    description: 'Answers with an error',
    handler: () => {
      throw scriptedError(-32_000, injectionText('error'));
    },
  },
];

const markdown = `# ${injectionText('heading')}

${injectionText('inline')}

<div onclick="window.harm='block'">block</div>

<iframe src="https://elsewhere.test/frame"></iframe>

[a link](${injectionUrl('markdown')}) and [a named one][named], <${injectionUrl('pointed')}>

![a picture](https://elsewhere.test/picture.png)

| ${injectionText('head')} | b |
| --- | --- |
| ${injectionText('body')} | [c](data:text/html,<script>window.harm='data'</script>) |

[named]: ${injectionUrl('named')}

The end of it.`;

/** Calls all of them, then says the worst it can. */
const modelScript: ModelScript = function* ({ messages, tools: shown }) {
  if (messages.at(-1)?.role === 'tool') {
    yield markdown;
    return;
  }
  const isAsked = messages.at(-1)?.content === 'Ask me first';
  const ours = shown
    .map(({ function: { name } }) => name)
    .filter((name) => name.includes(isAsked ? 'wicked' : 'evil'))
    .slice(0, isAsked ? 1 : undefined);
  yield {
    calls: ours.map((name) => ({
      name,
      args: { group: {}, [injectionText('argument')]: injectionText('sent') },
    })),
  };
};

describeWith('chromium', 'texts that want to be more than texts', () => {
  let rig: WebRig;
  let evil: ScriptedHttpServer;
  beforeAll(async () => {
    evil = await scriptedHttpServer({ era: 'legacy', tools, instructions: injectionText('instructions') });
    const mal = { id: 'mal', email: 'mal@example.test', name: injectionText('person'), roles: ['USER'] };
    rig = await startWebRig({
      modelScript,
      servers: `  evil:
    type: streamable-http
    url: ${evil.url}
    title: ${TITLE}
    description: ${JSON.stringify(injectionText('server-text'))}
  wicked: { type: streamable-http, url: '${evil.url}', title: ${TITLE} }
  greedy:
    type: streamable-http
    url: ${evil.url}
    headers: { x-value: '{{VALUE}}' }
    customUserVars:
      VALUE:
        title: ${JSON.stringify(injectionText('value-title'))}
        description: ${JSON.stringify(injectionText('value-text'))}`,
      approvalRules: ['mcp:wicked:*'],
      addresses: [new URL(evil.url).host],
      users: [...oboUsers, mal],
    });
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await evil?.close();
  });

  async function visit(user: string, path: string): Promise<{ page: Page; watched: InjectionMonitor }> {
    const page = await rig.openPage(user, { path: path });
    const title = inJson(injectionText('server'));
    await page.route('**/api/**', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(TITLE, title) });
    });
    return { page, watched: await monitorInjections(page) };
  }
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  /** It stands there, letter by letter. */
  const shown = (page: Page, text: string) =>
    page.getByText(text).filter({ visible: true }).first().waitFor();
  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();

  test('what a server says of its tools, and what they give, is text on the page of the tools', async () => {
    const { page, watched } = await visit('uma', `/tools/evil/${encodeURIComponent(NAME)}`);
    for (const place of ['tool-title', 'tool-text', 'field', 'field-text', 'choice', 'group'])
      await shown(page, injectionText(place));
    expect(await page.getByRole('textbox', { name: 'inner' }).inputValue()).toBe(injectionText('default'));
    await watched.expectNoInjection();
    await run(page);
    for (const place of ['result', 'link-name', 'page', 'column', 'cell'])
      await shown(page, injectionText(place));
    await shown(page, injectionText('log'));
    for (const place of ['link', 'value']) await shown(page, injectionUrl(place));
    await watched.expectNoInjection();

    await page.goto(`${rig.origin}/tools/evil/failing`);
    await run(page);
    await shown(page, injectionText('failure'));
    await page.goto(`${rig.origin}/tools/evil/refusing`);
    await run(page);
    await shown(page, injectionText('error'));
    await watched.expectNoInjection();
    await watched.expectDetection();
    await page.context().close();
  }, 120_000);

  test('what a server says of a tool, and what an author says of a block, is text wherever a block stands', async () => {
    const { page, watched } = await visit('uma', `/blocks/new?server=evil&tool=${encodeURIComponent(NAME)}`);
    for (const place of ['tool-text', 'field', 'field-text', 'choice', 'group'])
      await shown(page, injectionText(place));
    await page.getByRole('textbox', { name: 'Title' }).fill(injectionText('block-title'));
    await page.getByRole('textbox', { name: 'Description' }).fill(injectionText('block-text'));
    const input = page.getByRole('group', { name: `Input ${injectionText('field')}`, exact: true });
    await input.getByRole('radio', { name: 'Fixed' }).check();
    await page.getByRole('textbox', { name: injectionText('field') }).fill(injectionText('fixed'));
    await watched.expectNoInjection();
    await page.getByRole('button', { name: 'Save block' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    for (const place of ['block-title', 'block-text', 'fixed', 'server'])
      await shown(page, injectionText(place));
    await shown(page, injectionText('tool-title'));
    await run(page);
    for (const place of ['result', 'link-name', 'cell']) await shown(page, injectionText(place));
    await watched.expectNoInjection();
    await page.getByRole('link', { name: 'All blocks' }).click();
    for (const place of ['block-title', 'block-text']) await shown(page, injectionText(place));
    await watched.expectNoInjection();
    await page.context().close();
  }, 120_000);

  test('what a server says of its tools before it is saved is text in the dialog that finds it', async () => {
    const { page, watched } = await visit('ada', '/servers?add=1');
    await page.getByRole('textbox', { name: /^URL/ }).fill(evil.url);
    await page.getByRole('button', { name: 'Continue' }).click();
    for (const place of ['tool-title', 'tool-text']) await shown(page, injectionText(place));
    await shown(page, NAME);
    await watched.expectNoInjection();
    await page.context().close();
  }, 120_000);

  test('what a model writes, what it sends to tools and what they give is text in the chat, also when it is read again', async () => {
    const { page, watched } = await visit('uma', '/chat');
    await page.getByRole('textbox', { name: 'Your message' }).fill(injectionText('question'));
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
      for (const place of places) await shown(page, injectionText(place));
      await shown(page, injectionText('tool-title'));
      await shown(page, `<div onclick="window.harm='block'">block</div>`);
      for (const place of ['markdown', 'named', 'pointed']) await shown(page, injectionUrl(place));
      for (const summary of await page.getByText('Arguments', { exact: true }).all()) await summary.click();
      await shown(page, inJson(injectionText('sent')));
      // A picture is not fetched; where it is can be seen.
      const picture = page.getByRole('link', { name: 'a picture (elsewhere.test)' });
      expect(await picture.getAttribute('rel')).toBe('noopener noreferrer');
      await watched.expectNoInjection();
    };
    await lookAround();
    await page.reload();
    await lookAround();
    await watched.expectDetection();
    await page.context().close();
  }, 120_000);

  test('names and arguments are text in the question whether a tool may run, by hand and in the chat', async () => {
    const { page, watched } = await visit('uma', `/tools/wicked/${encodeURIComponent(NAME)}`);
    const question = page.getByRole('group', { name: 'Allow this tool call?' });
    const lookAt = async (...texts: readonly string[]) => {
      for (const text of texts) await question.getByText(text).first().waitFor();
      await watched.expectNoInjection();
      await question.getByRole('button', { name: 'Deny' }).click();
      await question.waitFor({ state: 'detached' });
    };
    await run(page);
    await lookAt(NAME, injectionText('server'), inJson(injectionText('default')));
    // An answer that waits for its question cannot be read to its end first.
    await page.unrouteAll();
    await page.goto(`${rig.origin}/chat`);
    await page.getByRole('textbox', { name: 'Your message' }).fill('Ask me first');
    await page.keyboard.press('Enter');
    await lookAt(NAME, inJson(injectionText('sent')));
    await watched.expectNoInjection();
    await page.context().close();
  }, 120_000);

  test('titles and descriptions are text in what a server wants of its users, and in the dialogs about it', async () => {
    const { page, watched } = await visit('ada', '/servers/greedy');
    for (const place of ['value-title', 'value-text']) await shown(page, injectionText(place));
    await page.getByRole('textbox', { name: injectionText('value-title') }).fill('a value');
    await page.getByRole('button', { name: 'Save values' }).click();
    await page.getByRole('button', { name: `Clear ${injectionText('value-title')}` }).click();
    await shown(page, `${injectionText('value-title')} cleared`);
    await watched.expectNoInjection();

    const name = await createServerOverRest(page, { type: 'streamable-http', title: TITLE, url: evil.url });
    await page.goto(`${rig.origin}/servers/${name}`);
    for (const [button, title] of [
      ['Edit', `Edit “${injectionText('server')}”`],
      ['Share', `Share “${injectionText('server')}”`],
      ['Delete', `Delete “${injectionText('server')}”?`],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await watched.expectNoInjection();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await watched.expectDetection();
    await page.context().close();
  }, 120_000);

  test('titles and descriptions of servers are text on their pages', async () => {
    const { page, watched } = await visit('uma', '/servers');
    for (const place of ['server', 'server-text']) await shown(page, injectionText(place));
    await watched.expectNoInjection();
    await page.goto(`${rig.origin}/servers/evil`);
    for (const place of ['server', 'server-text', 'tool-text']) await shown(page, injectionText(place));
    await shown(page, NAME);
    await watched.expectNoInjection();
    await page.context().close();
  }, 120_000);

  test('names of people, of roles and of what they did are text in the administration', async () => {
    const mal = await visit('mal', `/tools/evil/${encodeURIComponent(NAME)}`);
    await shown(mal.page, injectionText('person'));
    await run(mal.page);
    await shown(mal.page, injectionText('result'));
    await mal.watched.expectNoInjection();
    await mal.page.context().close();

    const { page, watched } = await visit('ada', '/admin');
    await sendRest(page, 'POST', '/api/admin/roles', { name: 'Odd', description: injectionText('role') });
    const panels: Record<string, string> = {
      overview: injectionText('server'),
      roles: injectionText('role'),
      users: injectionText('person'),
      audit: NAME,
      connections: 'evil',
      config: injectionText('server'),
    };
    for (const [panel, text] of Object.entries(panels)) {
      await page.goto(`${rig.origin}/admin/${panel}`);
      if (panel === 'config') await page.getByText('evil:').click();
      await shown(page, text);
      await watched.expectNoInjection();
    }
    await page.goto(`${rig.origin}/admin/audit`);
    await page.getByRole('button', { name: NAME }).first().click();
    await page.getByRole('dialog').waitFor();
    await watched.expectNoInjection();
    await page.context().close();
  }, 120_000);
});
