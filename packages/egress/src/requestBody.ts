/** A body that can be sent again when a redirect asks for it. */
export interface RequestBody {
  readonly content: string | Uint8Array | null;
  readonly contentType: string | undefined;
}

const NO_BODY: RequestBody = { content: null, contentType: undefined };

/** Text and bytes pass as they are; forms, blobs and streams are collected, because 307 and 308 repeat the body. */
export function readRequestBody(body: RequestInit['body']): RequestBody | Promise<RequestBody> {
  if (body === undefined || body === null) return NO_BODY;
  if (typeof body === 'string') return { content: body, contentType: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) {
    return { content: body.toString(), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (body instanceof Uint8Array) return { content: body, contentType: undefined };
  return encodeBody(body);
}

async function encodeBody(body: NonNullable<RequestInit['body']>): Promise<RequestBody> {
  const encoded = new Response(body);
  const content = new Uint8Array(await encoded.arrayBuffer());
  return { content, contentType: encoded.headers.get('content-type') ?? undefined };
}
