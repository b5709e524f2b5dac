import type { CallBody } from './users.ts';

/** What came of a call: the status, the body, and what the challenge says where there is one. */
export interface ToolCallResponse {
  readonly status: number;
  readonly body: CallBody;
  readonly challenge: string | null;
  readonly retryAfter: string | null;
}

/** Calls a tool with a token of the identity provider, as a chat platform does for its user. */
export async function callWithToken(
  gateway: { readonly url: string },
  token: string,
  server = 'mail',
  tool = 'whoami',
): Promise<ToolCallResponse> {
  const response = await fetch(`${gateway.url}/api/mcp/servers/${server}/tools/${tool}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: {} }),
  });
  return {
    status: response.status,
    body: (await response.json()) as CallBody,
    challenge: response.headers.get('www-authenticate'),
    retryAfter: response.headers.get('retry-after'),
  };
}

/** Whom the server saw, by its own word. */
export function subjectSeenByServer({ body }: Pick<ToolCallResponse, 'body'>): string | undefined {
  const { subject } = (body.structuredContent ?? {}) as { subject?: string };
  return subject;
}
