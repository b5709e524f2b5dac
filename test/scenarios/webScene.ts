import type { DevUser } from '@behalf/devidp';
import { startScriptedModel, type ModelScript, type ScriptedModel } from '@behalf/devidp/sample';
import type { Clock } from '@behalf/kernel';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { startOboScene, type OboScene } from './oboScene.ts';
import { deskTools, type Desk } from './webDesk.ts';

/** The whole product as a person meets it: identity provider, servers, a model, the gateway, and a browser. */
export interface WebScene extends OboScene {
  readonly browser: Browser;
  readonly model: ScriptedModel;
  /** A server that everybody shares, and what its tools have seen. */
  readonly desk: Desk & { readonly server: ScriptedHttpServer };
  /** The address under which the browser goes: cookies know hosts. */
  readonly home: string;
  /** A window of its own for this person, signed in through the provider as people do. */
  visit(user: string, options?: VisitOptions): Promise<Page>;
}

/** How long a page may take on a machine that has other things to do. */
export const PATIENCE_MS = 30_000;

export interface VisitOptions extends BrowserContextOptions {
  /** Where they come out after the sign-in. */
  at?: string;
}

export interface WebSceneOptions {
  /** How the model answers; absent: no model is configured. */
  script?: ModelScript;
  /** More of `mcpServers`, indented by two. */
  servers?: string;
  /** Addresses of those servers. */
  addresses?: readonly string[];
  variables?: Record<string, string>;
  /** Which of their tools ask first, as the file names them. */
  asks?: readonly string[];
  /** Who has an account at the provider; absent: Ada, who administers, Uma and Gil. */
  users?: readonly DevUser[];
  /** The time of the gateway. */
  clock?: Clock;
}

export async function startWebScene(options: WebSceneOptions = {}): Promise<WebScene> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const desk = deskTools();
    const server = await scriptedHttpServer({ era: 'legacy', tools: desk.tools });
    closers.push(() => server.close());
    const model = await startScriptedModel({ script: options.script ?? (() => []) });
    closers.push(() => model.close());
    const scene = await startOboScene({
      addresses: [new URL(server.url).host, ...(options.addresses ?? [])],
      variables: { ...options.variables },
      ...(options.users && { users: options.users }),
      ...(options.clock && { clock: options.clock }),
      yaml: () => yamlOf(server.url, options, model.url),
    });
    closers.push(() => scene.close());
    const browser = await launchChromium();
    closers.push(() => browser.close());
    const home = scene.url.replace('127.0.0.1', 'localhost');
    return {
      ...scene,
      ...{ browser, model, desk: { ...desk, server }, home, close },
      async visit(user, { at = '/', ...context } = {}) {
        // The provider's certificate was made a moment ago.
        const window = await browser.newContext({ ignoreHTTPSErrors: true, ...context });
        return signIn(window, home, user, at);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function signIn(window: BrowserContext, home: string, user: string, at: string): Promise<Page> {
  const page = await window.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(home + at);
  await page.click('text=Sign in with your organization');
  await page.click(`button[name=user][value=${user}]`);
  await page.waitForURL((url) => url.origin === home && !url.pathname.startsWith('/oauth'));
  return page;
}

function yamlOf(desk: string, { script, servers = '', asks = [] }: WebSceneOptions, model: string): string {
  const endpoints = script
    ? `
  custom:
    - name: Scripted
      apiKey: key-of-the-model
      baseURL: ${model}
      models: { default: [scripted-large, scripted-small] }`
    : '';
  return `  desk:
    type: streamable-http
    title: Front desk
    description: Small tools for everybody
    url: ${desk}
${servers}
endpoints:${endpoints}
  agents:
    toolApproval: { enabled: true, ask: ${JSON.stringify(['mcp:desk:wipe', ...asks])} }
`;
}
