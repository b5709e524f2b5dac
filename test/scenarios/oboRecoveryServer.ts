import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { decodeJwt } from 'jose';

/** A server with everything that can be read and listed, whose tokens can be revoked one by one. */
export interface RevokingServer extends ScriptedHttpServer {
  /** The tokens it was shown, each once, in order. Empty: a request without one. */
  shown(): readonly string[];
  /** Takes the last one it was shown no more. The refusals go out together, when so many have come with it. */
  revoke(together?: number): string;
  /** Whether it takes any at all. */
  takeTokens(takes: boolean): void;
  forget(): void;
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

export async function startRevokingServer(): Promise<RevokingServer> {
  const revoked = new Map<string, () => Promise<void>>();
  let takes = true;
  let from = 0;
  const tokenOf = (header: string | undefined) => (header ?? '').replace(/^Bearer /, '');
  const refused = (description: string) => ({
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
      if (token === '' || !takes) return refused('not taken here');
      const gathered = revoked.get(token);
      if (!gathered) return undefined;
      await gathered();
      return refused('revoked here');
    },
  });
  const shown = () => [
    ...new Set(server.requests.slice(from).map(({ headers }) => tokenOf(headers.authorization))),
  ];
  return Object.assign(server, {
    shown,
    revoke(together = 1) {
      const token = shown().at(-1) ?? '';
      revoked.set(token, gathering(together));
      return token;
    },
    takeTokens: (now: boolean) => void (takes = now),
    forget: () => void (from = server.requests.length),
  });
}

/** Resolves for all when the last of so many has come. */
function gathering(count: number): () => Promise<void> {
  let missing = count;
  let open: () => void = () => undefined;
  const complete = new Promise<void>((resolve) => (open = resolve));
  return () => {
    missing -= 1;
    if (missing <= 0) open();
    return complete;
  };
}
