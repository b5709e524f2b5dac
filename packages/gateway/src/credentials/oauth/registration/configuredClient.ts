import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { AuthorizationServerMetadata } from '../discovery/authorizationServerMetadata.ts';
import type { ClientAuthentication, OAuthClient } from '../oauthClient.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';

export type ReadKeyFile = (file: string) => Promise<string>;

/** The client that the definition names; undefined where it names none. */
export async function readConfiguredClient(
  target: SignInTarget,
  asMetadata: Pick<AuthorizationServerMetadata, 'authMethods'>,
  readKeyFile: ReadKeyFile,
): Promise<OAuthClient | undefined> {
  const { clientId } = target.oauth;
  if (clientId === undefined) return undefined;
  return { clientId, source: 'configured', auth: await readClientAuth(target, asMetadata, readKeyFile) };
}

async function readClientAuth(
  { oauth, isOperatorDefined }: SignInTarget,
  { authMethods }: Pick<AuthorizationServerMetadata, 'authMethods'>,
  readKeyFile: ReadKeyFile,
): Promise<ClientAuthentication> {
  const { clientSecret: secret, raw } = oauth;
  if (raw.private_key_file !== undefined && isOperatorDefined) {
    const key = await readPrivateKey(raw.private_key_file, readKeyFile);
    const alg = raw.private_key_alg ?? defaultAlgorithm(key);
    return { method: 'private_key_jwt', key, alg, kid: raw.private_key_id };
  }
  if (secret === undefined) return { method: 'none' };
  return { method: selectSecretAuthMethod(raw.token_exchange_method, authMethods), secret };
}

/** The header is the default (RFC 8414, section 2): the form only where it is asked for, or the other is not taken. */
export function selectSecretAuthMethod(
  configuredMethod: 'default_post' | 'basic_auth_header' | undefined,
  supportedMethods: readonly string[] | null,
): 'client_secret_basic' | 'client_secret_post' {
  if (configuredMethod === 'default_post') return 'client_secret_post';
  if (configuredMethod === 'basic_auth_header' || !supportedMethods) return 'client_secret_basic';
  if (supportedMethods.includes('client_secret_basic')) return 'client_secret_basic';
  return supportedMethods.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';
}

/** Read anew each time: a file that was replaced counts at once. */
async function readPrivateKey(file: string, readKeyFile: ReadKeyFile): Promise<KeyObject> {
  try {
    return createPrivateKey(await readKeyFile(file));
  } catch {
    // The error may quote what it could not parse.
    throw new SignInImpossible('client_key_unusable');
  }
}

function defaultAlgorithm(key: KeyObject): string {
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
