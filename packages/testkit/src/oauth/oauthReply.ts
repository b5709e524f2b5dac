import type { ServerResponse } from 'node:http';
import type { Json, ScriptedOAuthResponse } from './authorizationServer.ts';

/** An OAuth error response (RFC 6749 section 5.2). */
export class OAuthErrorResponse extends Error {
  readonly error: string;
  readonly status: number;

  constructor(error: string, description: string, status = error === 'invalid_client' ? 401 : 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}

export function errorReply({ error, message, status }: OAuthErrorResponse): ScriptedOAuthResponse {
  return { status, body: { error, error_description: message } };
}

export function redirectReply(to: URL): ScriptedOAuthResponse {
  return { status: 302, headers: { location: to.href } };
}

export function htmlReply(status: number, html: string): ScriptedOAuthResponse {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html };
}

/** Form-encodes a response, as some authorization servers do. */
export function formReply({ body, ...reply }: ScriptedOAuthResponse): ScriptedOAuthResponse {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries((body ?? {}) as Json)) fields.set(name, String(value));
  return {
    ...reply,
    headers: { ...reply.headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: fields.toString(),
  };
}

export function send({ status, headers = {}, body }: ScriptedOAuthResponse, response: ServerResponse): void {
  if (response.destroyed) return;
  const isJson = typeof body === 'object';
  response.writeHead(status, {
    'cache-control': 'no-store',
    ...(isJson && { 'content-type': 'application/json' }),
    ...headers,
  });
  response.end(isJson ? JSON.stringify(body) : body);
}
