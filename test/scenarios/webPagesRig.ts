import {
  freePort,
  scriptedHttpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type GuardedMcpServer,
  type ScriptedHttpServer,
} from '@behalf/testkit';
import type { ModelScript } from '@behalf/devidp/sample';
import type { BrowserContext, Page } from 'playwright-core';
import { createAdministrator } from './browser.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { connectOverRest, createNotesYaml, startNotes } from './webConnectRig.ts';
import { sendRest, createServerOverRest, assignRole, readUserId } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

/** Who looks: Ada administers, Uma uses, Gil defines servers without CONFIGURE_OBO, Ari is the first of a new gateway. */
export type PageViewer = 'ada' | 'uma' | 'gil' | 'ari' | 'nobody';
export type BrowserState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Everything that pages are shown of. */
export interface WebPagesRig {
  readonly webRig: WebRig;
  /** A gateway where nobody has an account yet. */
  readonly emptyGateway: InProcessGateway;
  /** One with its first administrator, and without a model. */
  readonly configuredGateway: InProcessGateway;
  /** Somewhere to define a server at, which works until a page wants it not to. */
  readonly emptyServer: ScriptedHttpServer;
  /** With tools for everybody, and with one for whoever signs in. */
  readonly weatherServer: ScriptedHttpServer;
  readonly lockedServer: GuardedMcpServer;
  /** With what somebody comes who is signed in. */
  readonly browserStateOf: (viewer: PageViewer) => BrowserState | undefined;
  close(): Promise<void>;
}

/** Enough to say for each page. */
const modelScript: ModelScript = function* ({ messages, tools }) {
  const prompt = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const lastMessage = messages.at(-1);
  const findTool = (disposable: string) =>
    tools.find((tool) => tool.function.name.startsWith(disposable))?.function.name ?? disposable;
  if (lastMessage?.role === 'tool') {
    yield '**You are Ada.** The table above has the temperatures:\n\n| city | degrees |\n| --- | ---: |\n| Oslo | 3 |\n| Rome | 18 |\n\n';
    yield 'More in the [report](https://example.test/report). That is all.';
  } else if (prompt.startsWith('Keep')) {
    yield { calls: [{ name: findTool('note_mcp_diary'), args: { text: 'hello' } }] };
  } else if (prompt.startsWith('Wipe')) {
    yield 'I would remove everything there.';
    yield { calls: [{ name: findTool('wipe'), args: { place: 'attic' } }] };
  } else {
    yield 'Let me look.';
    yield { calls: [{ name: findTool('whoami') }, { name: findTool('report') }] };
  }
};

/** A form with all there is: a rule that only the gateway knows, objects in objects, and lists of both. */
const orderTool = {
  name: 'order',
  description: 'Orders things, to be brought to an address',
  inputSchema: {
    type: 'object',
    properties: {
      code: { type: 'string', title: 'Code', pattern: '^[A-Z]{3}$' },
      address: {
        type: 'object',
        title: 'Address',
        properties: {
          city: { type: 'string', title: 'City' },
          place: {
            type: 'object',
            title: 'Place',
            properties: { floor: { type: 'integer', title: 'Floor' } },
          },
        },
        required: ['city'],
      },
      parts: {
        type: 'array',
        title: 'Parts',
        items: {
          type: 'object',
          title: 'Part',
          properties: {
            name: { type: 'string', title: 'Name' },
            amount: { type: 'integer', title: 'Amount', minimum: 1 },
          },
          required: ['name'],
        },
      },
    },
    required: ['code', 'address'],
  },
};

export async function startWebPagesRig(): Promise<WebPagesRig> {
  const disposables: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const dispose of disposables.splice(0).reverse()) await dispose();
  };
  const track = async <T extends { close(): Promise<unknown> }>(pending: Promise<T>): Promise<T> => {
    const disposable = await pending;
    disposables.push(() => disposable.close());
    return disposable;
  };
  try {
    const tools = [{ name: 'forecast', description: 'Tomorrow' }, orderTool];
    const weatherServer = await track(scriptedHttpServer({ era: 'legacy', tools }));
    const emptyServer = await track(scriptedHttpServer({ era: 'legacy', tools: [] }));
    const authorization = await track(startAuthorizationServer());
    const notes = await track(startNotes(authorization));
    const diaryServer = await track(startNotes(authorization));
    // Where no server of the file signs its users in.
    const otherAuthorizationServer = await track(startAuthorizationServer());
    const lockedServer = await track(startNotes(otherAuthorizationServer));
    const unreachableUrl = `http://127.0.0.1:${await freePort()}/mcp`;
    const webRig = await track(
      startWebRig({
        modelScript,
        servers: renderYaml({ notes, diaryServer, weatherServer, unreachableUrl }),
        addresses: [
          ...[weatherServer, emptyServer, notes, diaryServer, lockedServer].map(({ url }) => url),
          ...[authorization.issuer, otherAuthorizationServer.issuer, unreachableUrl],
        ].map((url) => new URL(url).host),
      }),
    );
    const emptyGateway = await track(startInProcess());
    const configuredGateway = await track(startInProcess());
    const browserStates = new Map<PageViewer, BrowserState>([
      ['ari', await readBrowserState(configuredGateway)],
    ]);
    const ada = await webRig.openPage('ada');
    for (const user of ['uma', 'gil'] as const) {
      const page = await webRig.openPage(user);
      browserStates.set(user, await page.context().storageState());
      if (user === 'uma') await connectOverRest(page, 'notes');
      else await shareLettersServer(ada, await readUserId(page), weatherServer.url);
      await page.context().close();
    }
    browserStates.set('ada', await ada.context().storageState());
    await createServerOverRest(ada, { type: 'streamable-http', title: 'Weather', url: weatherServer.url });
    await breakSignIn(ada, diaryServer, authorization);
    await ada.context().close();
    return {
      webRig,
      emptyGateway,
      configuredGateway,
      emptyServer,
      weatherServer,
      lockedServer,
      close,
      browserStateOf: (viewer) => browserStates.get(viewer),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server with On-Behalf-Of that Gil may change, as far as his role lets him. */
async function shareLettersServer(ada: Page, gil: string, url: string): Promise<void> {
  await assignRole(ada, gil, { name: 'maker', permissions: { USE: true, CREATE: true, SHARE: true } });
  await createServerOverRest(
    ada,
    { type: 'streamable-http', title: 'Letters', url, obo: { scopes: 'api://mail/.default' } },
    { updated: [{ type: 'user', id: gil, accessRoleId: 'mcpServer_editor' }] },
  );
}

/** Ada's sign-in at the diary is of no use any more, and she does not know it yet. */
async function breakSignIn(
  ada: Page,
  diaryServer: GuardedMcpServer,
  authorization: AuthorizationServer,
): Promise<void> {
  await connectOverRest(ada, 'diary');
  await sendRest(ada, 'GET', '/api/mcp/servers/diary/tools');
  for (const { token } of diaryServer.guardedRequests) if (token) authorization.endFamily(token.familyId);
}

/** What the browser of the first administrator holds. */
async function readBrowserState(configuredGateway: InProcessGateway): Promise<BrowserState> {
  const { cookies } = await createAdministrator(configuredGateway);
  const [cookie] = [...cookies].map(([name, value]) => ({
    ...{ name, value, domain: 'localhost', path: '/', expires: -1 },
    ...{ httpOnly: true, secure: false, sameSite: 'Lax' as const },
  }));
  return { cookies: cookie ? [cookie] : [], origins: [] };
}

function renderYaml(parts: {
  notes: GuardedMcpServer;
  diaryServer: GuardedMcpServer;
  weatherServer: ScriptedHttpServer;
  unreachableUrl: string;
}): string {
  const { notes, diaryServer, weatherServer, unreachableUrl } = parts;
  return `${createNotesYaml('notes', 'The notes', notes)}${createNotesYaml('diary', 'The diary', diaryServer)}
  attic: { type: streamable-http, title: The attic, url: '${unreachableUrl}' }
  ledger:
    type: streamable-http
    title: The ledger
    description: Wants two values of each user
    url: ${weatherServer.url}
    headers: { x-account: '{{ACCOUNT}}', x-key: '{{KEY}}' }
    customUserVars:
      ACCOUNT: { title: Account, description: The number of your account, sensitive: false }
      KEY: { title: Key, description: From the settings of your account }
`;
}

/** One page of the interface as people see it, with something on it. */
export interface PageCase {
  readonly name: string;
  readonly user: PageViewer;
  /** A path, or a whole address. */
  readonly path: string | ((rig: WebPagesRig) => string);
  /** What a person does there before they look. Names of things on the page, never places. */
  readonly prepare?: (page: Page, rig: WebPagesRig) => Promise<void>;
  /** Where only a narrow screen has it. */
  readonly isNarrow?: true;
}

/** Presses a button that asks something in a dialog. */
export async function openDialog(page: Page, button: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: button }).first().click();
  await page.getByRole('dialog').waitFor();
}
