import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ScriptedReply, ScriptedRequest } from '@behalf/testkit';
import { calculateJwkThumbprint, decodeJwt, EmbeddedJWK, jwtVerify } from 'jose';

/** A request that a guarded server let in. */
export interface VerifiedRequest {
  readonly verb: string;
  readonly method: string | undefined;
  readonly subject: string;
  readonly jkt: string;
}

/** Where tokens are exchanged for ones that are bound to a key, and the guard of servers that take them (RFC 9449). */
export interface DpopExchange {
  readonly tokenEndpoint: string;
  /** Tokens that were given out, with the key that each is bound to. */
  readonly issuedTokens: ReadonlyMap<string, { readonly subject: string; readonly jkt: string }>;
  readonly verifiedRequests: readonly VerifiedRequest[];
  /** Of a server at this address: undefined lets the request in. */
  guard(request: ScriptedRequest, url: string): Promise<ScriptedReply | undefined>;
  close(): Promise<void>;
}

/** What every proof to a server must repeat. */
const SERVER_NONCE = 'repeat-me';

export async function startDpopExchange(): Promise<DpopExchange> {
  const issuedTokens = new Map<string, { subject: string; jkt: string }>();
  const verifiedRequests: VerifiedRequest[] = [];
  const seenProofIds = new Set<string>();

  /** The key of a proof that holds for this request; it throws otherwise, also when it was shown before. */
  async function verifyProof(proof: unknown, htm: string, htu: string, token?: string) {
    const { payload, protectedHeader } = await jwtVerify(String(proof), EmbeddedJWK, {
      ...{ typ: 'dpop+jwt', algorithms: ['ES256'], maxTokenAge: '1m' },
    });
    const ath = token === undefined ? undefined : createHash('sha256').update(token).digest('base64url');
    const { jti = '' } = payload;
    if (payload['htm'] !== htm || payload['htu'] !== htu || payload['ath'] !== ath || seenProofIds.has(jti))
      throw new Error('The proof is of another request');
    seenProofIds.add(jti);
    return { jkt: await calculateJwkThumbprint(protectedHeader.jwk ?? {}), nonce: payload['nonce'] };
  }

  async function exchange(req: IncomingMessage): Promise<[number, object]> {
    const form = new URLSearchParams(await text(req));
    const proof = await verifyProof(req.headers['dpop'], 'POST', tokenEndpoint).catch(() => null);
    if (!proof) return [400, { error: 'invalid_dpop_proof' }];
    const subject = decodeJwt(form.get('subject_token') ?? '').sub ?? '';
    const token = `bound-${randomUUID()}`;
    issuedTokens.set(token, { subject, jkt: proof.jkt });
    const issued = { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' };
    return [200, { access_token: token, token_type: 'DPoP', expires_in: 600, ...issued }];
  }

  const server = createServer((req, res) => {
    exchange(req).then(
      ([status, body]) =>
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => res.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tokenEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;

  return {
    tokenEndpoint,
    issuedTokens,
    verifiedRequests,
    async guard({ verb, headers, message }, url) {
      const [, token = ''] = /^DPoP (.+)$/.exec(headers.authorization ?? '') ?? [];
      const proof = await verifyProof(headers['dpop'], verb, url, token).catch(() => null);
      const issuedToken = issuedTokens.get(token);
      if (!proof || issuedToken?.jkt !== proof.jkt)
        return { status: 401, headers: { 'www-authenticate': 'DPoP error="invalid_token"' } };
      if (proof.nonce !== SERVER_NONCE) {
        const challenge = 'DPoP error="use_dpop_nonce"';
        return { status: 401, headers: { 'www-authenticate': challenge, 'dpop-nonce': SERVER_NONCE } };
      }
      verifiedRequests.push({ verb, method: message?.method, ...issuedToken });
      return undefined;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
