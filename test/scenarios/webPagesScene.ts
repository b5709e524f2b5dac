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
import { signedIn } from './browser.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { connectQuietly, notesYaml, startNotes } from './webConnectScene.ts';
import { askRest, createServer, giveRole, idOf } from './webRest.ts';
import { startWebScene, type WebScene } from './webScene.ts';

/** Who looks: Ada administers, Uma uses, Gil defines servers without CONFIGURE_OBO, Ari is the first of a new gateway. */
export type Viewer = 'ada' | 'uma' | 'gil' | 'ari' | 'nobody';
export type Kept = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Everything that pages are shown of. */
export interface Stage {
  readonly scene: WebScene;
  /** A gateway where nobody has an account yet. */
  readonly fresh: InProcessGateway;
  /** One with its first administrator, and without a model. */
  readonly first: InProcessGateway;
  /** Somewhere to define a server at, which works until a page wants it not to. */
  readonly cellar: ScriptedHttpServer;
  /** With tools for everybody, and with one for whoever signs in. */
  readonly weather: ScriptedHttpServer;
  readonly locked: GuardedMcpServer;
  /** With what somebody comes who is signed in. */
  readonly kept: (viewer: Viewer) => Kept | undefined;
  close(): Promise<void>;
}

/** Enough to say for each page. */
const script: ModelScript = function* ({ messages, tools }) {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const last = messages.at(-1);
  const named = (part: string) =>
    tools.find((tool) => tool.function.name.startsWith(part))?.function.name ?? part;
  if (last?.role === 'tool') {
    yield '**You are Ada.** The table above has the temperatures:\n\n| city | degrees |\n| --- | ---: |\n| Oslo | 3 |\n| Rome | 18 |\n\n';
    yield 'More in the [report](https://example.test/report). That is all.';
  } else if (asked.startsWith('Keep')) {
    yield { calls: [{ name: named('note_mcp_diary'), args: { text: 'hello' } }] };
  } else if (asked.startsWith('Wipe')) {
    yield 'I would remove everything there.';
    yield { calls: [{ name: named('wipe'), args: { place: 'attic' } }] };
  } else {
    yield 'Let me look.';
    yield { calls: [{ name: named('whoami') }, { name: named('report') }] };
  }
};

/** A form with all there is: a rule that only the gateway knows, objects in objects, and lists of both. */
const order = {
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

export async function startStage(): Promise<Stage> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  const opened = async <T extends { close(): Promise<unknown> }>(opening: Promise<T>): Promise<T> => {
    const part = await opening;
    closers.push(() => part.close());
    return part;
  };
  try {
    const tools = [{ name: 'forecast', description: 'Tomorrow' }, order];
    const weather = await opened(scriptedHttpServer({ era: 'legacy', tools }));
    const cellar = await opened(scriptedHttpServer({ era: 'legacy', tools: [] }));
    const authorization = await opened(startAuthorizationServer());
    const notes = await opened(startNotes(authorization));
    const diary = await opened(startNotes(authorization));
    // Where no server of the file signs its users in.
    const keeper = await opened(startAuthorizationServer());
    const locked = await opened(startNotes(keeper));
    const nowhere = `http://127.0.0.1:${await freePort()}/mcp`;
    const scene = await opened(
      startWebScene({
        script,
        servers: yamlOf({ notes, diary, weather, nowhere }),
        addresses: [
          ...[weather, cellar, notes, diary, locked].map(({ url }) => url),
          ...[authorization.issuer, keeper.issuer, nowhere],
        ].map((url) => new URL(url).host),
      }),
    );
    const fresh = await opened(startInProcess());
    const first = await opened(startInProcess());
    const people = new Map<Viewer, Kept>([['ari', await keptBy(first)]]);
    const ada = await scene.visit('ada');
    for (const user of ['uma', 'gil'] as const) {
      const page = await scene.visit(user);
      people.set(user, await page.context().storageState());
      if (user === 'uma') await connectQuietly(page, 'notes');
      else await shareLetters(ada, await idOf(page), weather.url);
      await page.context().close();
    }
    people.set('ada', await ada.context().storageState());
    await createServer(ada, { type: 'streamable-http', title: 'Weather', url: weather.url });
    await spoilSignIn(ada, diary, authorization);
    await ada.context().close();
    return { scene, fresh, first, cellar, weather, locked, close, kept: (viewer) => people.get(viewer) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server with On-Behalf-Of that Gil may change, as far as his role lets him. */
async function shareLetters(ada: Page, gil: string, url: string): Promise<void> {
  await giveRole(ada, gil, { name: 'maker', permissions: { USE: true, CREATE: true, SHARE: true } });
  await createServer(
    ada,
    { type: 'streamable-http', title: 'Letters', url, obo: { scopes: 'api://mail/.default' } },
    { updated: [{ type: 'user', id: gil, accessRoleId: 'mcpServer_editor' }] },
  );
}

/** Ada's sign-in at the diary is of no use any more, and she does not know it yet. */
async function spoilSignIn(
  ada: Page,
  diary: GuardedMcpServer,
  authorization: AuthorizationServer,
): Promise<void> {
  await connectQuietly(ada, 'diary');
  await askRest(ada, 'GET', '/api/mcp/servers/diary/tools');
  for (const { token: facts } of diary.guardedRequests) if (facts) authorization.endFamily(facts.familyId);
}

/** What the browser of the first administrator holds. */
async function keptBy(first: InProcessGateway): Promise<Kept> {
  const { cookies } = await signedIn(first);
  const [cookie] = [...cookies].map(([name, value]) => ({
    ...{ name, value, domain: 'localhost', path: '/', expires: -1 },
    ...{ httpOnly: true, secure: false, sameSite: 'Lax' as const },
  }));
  return { cookies: cookie ? [cookie] : [], origins: [] };
}

function yamlOf(parts: {
  notes: GuardedMcpServer;
  diary: GuardedMcpServer;
  weather: ScriptedHttpServer;
  nowhere: string;
}): string {
  const { notes, diary, weather, nowhere } = parts;
  return `${notesYaml('notes', 'The notes', notes)}${notesYaml('diary', 'The diary', diary)}
  attic: { type: streamable-http, title: The attic, url: '${nowhere}' }
  ledger:
    type: streamable-http
    title: The ledger
    description: Wants two values of each user
    url: ${weather.url}
    headers: { x-account: '{{ACCOUNT}}', x-key: '{{KEY}}' }
    customUserVars:
      ACCOUNT: { title: Account, description: The number of your account, sensitive: false }
      KEY: { title: Key, description: From the settings of your account }
`;
}

/** One page of the interface as people see it, with something on it. */
export interface ShownPage {
  readonly name: string;
  readonly user: Viewer;
  /** A path, or a whole address. */
  readonly path: string | ((stage: Stage) => string);
  /** What a person does there before they look. Names of things on the page, never places. */
  readonly prepare?: (page: Page, stage: Stage) => Promise<void>;
  /** Where only a narrow screen has it. */
  readonly isNarrow?: true;
}

/** Presses a button that asks something in a dialog. */
export async function openDialog(page: Page, button: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: button }).first().click();
  await page.getByRole('dialog').waitFor();
}
