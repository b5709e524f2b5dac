import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { decodeJwt } from 'jose';

/** A server with everything that can be read and listed, whose tokens can be revoked one by one. */
export interface RevokingServer extends ScriptedHttpServer {
  /** The tokens it was shown, each once, in order. Empty: a request without one. */
  presentedTokens(): readonly string[];
  /** Takes the last one it was shown no more. The refusals go out together, when so many have come with it. */
  revokeLast(callCount?: number): string;
  /** Whether it takes any at all. */
  acceptTokens(acceptsTokens: boolean): void;
  forgetRequests(): void;
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

export async function startRevokingServer(): Promise<RevokingServer> {
  const revoked = new Map<string, () => Promise<void>>();
  let acceptsTokens = true;
  let firstRequest = 0;
  const tokenOf = (header: string | undefined) => (header ?? '').replace(/^Bearer /, '');
  const createRefusal = (description: string) => ({
    status: 401,
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${description}"` },
  });
  const server = await scriptedHttpServer({
    era: 'legacy',
    getStream: true,
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    tools: [
      {
        name: 'whoami',
        handler(_args, { request }) {
          const { sub = '' } = decodeJwt(tokenOf(request.headers.authorization));
          return { ...text(sub), structuredContent: { subject: sub } };
        },
      },
    ],
    methods: {
      'resources/list': () => ({ resources: [{ uri: 'note:one', name: 'one' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note:{id}', name: 'any' }] }),
      'resources/read': () => ({ contents: [{ uri: 'note:one', text: 'one' }] }),
      'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
      'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] }),
    },
    async respond({ headers }) {
      const token = tokenOf(headers.authorization);
      if (token === '' || !acceptsTokens) return createRefusal('not taken here');
      const waitForCallers = revoked.get(token);
      if (!waitForCallers) return undefined;
      await waitForCallers();
      return createRefusal('revoked here');
    },
  });
  const presentedTokens = () => [
    ...new Set(server.requests.slice(firstRequest).map(({ headers }) => tokenOf(headers.authorization))),
  ];
  return Object.assign(server, {
    presentedTokens,
    revokeLast(callCount = 1) {
      const token = presentedTokens().at(-1) ?? '';
      revoked.set(token, createBarrier(callCount));
      return token;
    },
    acceptTokens: (isAccepted: boolean) => void (acceptsTokens = isAccepted),
    forgetRequests: () => void (firstRequest = server.requests.length),
  });
}

/** Resolves for all when the last of so many has come. */
function createBarrier(count: number): () => Promise<void> {
  let missing = count;
  let release: () => void = () => undefined;
  const complete = new Promise<void>((resolve) => (release = resolve));
  return () => {
    missing -= 1;
    if (missing <= 0) release();
    return complete;
  };
}
