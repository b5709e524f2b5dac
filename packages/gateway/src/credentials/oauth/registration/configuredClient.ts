import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { AuthorizationServer } from '../discovery/authorizationServer.ts';
import type { ClientProof, OAuthClient } from '../oauthClient.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';

export type ReadText = (file: string) => Promise<string>;

/** The client that the definition names; undefined where it names none. */
export async function configuredClient(
  target: SignInTarget,
  as: Pick<AuthorizationServer, 'authMethods'>,
  readText: ReadText,
): Promise<OAuthClient | undefined> {
  const { clientId } = target.oauth;
  if (clientId === undefined) return undefined;
  return { clientId, source: 'configured', proof: await proofOf(target, as, readText) };
}

async function proofOf(
  { oauth, isOperators }: SignInTarget,
  { authMethods }: Pick<AuthorizationServer, 'authMethods'>,
  readText: ReadText,
): Promise<ClientProof> {
  const { clientSecret: secret, plain } = oauth;
  if (plain.private_key_file !== undefined && isOperators) {
    const key = await readKey(plain.private_key_file, readText);
    const alg = plain.private_key_alg ?? algOf(key);
    return { method: 'private_key_jwt', key, alg, kid: plain.private_key_id };
  }
  if (secret === undefined) return { method: 'none' };
  return { method: secretMethod(plain.token_exchange_method, authMethods), secret };
}

/** The header is the default (RFC 8414, section 2): the form only where it is asked for, or the other is not taken. */
export function secretMethod(
  forced: 'default_post' | 'basic_auth_header' | undefined,
  offered: readonly string[] | null,
): 'client_secret_basic' | 'client_secret_post' {
  if (forced === 'default_post') return 'client_secret_post';
  if (forced === 'basic_auth_header' || !offered) return 'client_secret_basic';
  if (offered.includes('client_secret_basic')) return 'client_secret_basic';
  return offered.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';
}

/** Read anew each time: a file that was replaced counts at once. */
async function readKey(file: string, readText: ReadText): Promise<KeyObject> {
  try {
    return createPrivateKey(await readText(file));
  } catch {
    // The error may quote what it could not parse.
    throw new SignInImpossible('client_key_unusable');
  }
}

function algOf(key: KeyObject): string {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'RS256';
    case 'rsa-pss':
      return 'PS256';
    case 'ec':
      return 'ES256';
    case 'ed25519':
      return 'EdDSA';
    default:
      throw new SignInImpossible('client_key_unusable');
  }
}
