import type { JsonObject, SignInRequirement, UpstreamResponse } from '@behalf/gateway';

/** The key of `_meta` in which clients find the sign-in that a call needs. */
export const AUTH_META_KEY = 'behalf/auth';

/** The value of `_meta["behalf/auth"]`. Servers cannot set it: the gateway strips `behalf/` keys from their messages. */
export function toAuthMeta(signIn: SignInRequirement): JsonObject {
  const { server, credentialId, reason, connectUrl, scopes } = signIn;
  return {
    code: 'needs_reauth',
    server,
    ...(credentialId !== undefined && { credentialId }),
    reason,
    connectUrl,
    ...(scopes !== undefined && { scopes }),
    retryable: false,
  };
}

/** A failed tool result: a chat shows the text to the user, and the text tells the model not to retry. */
export function toSignInResult(signIn: SignInRequirement): UpstreamResponse {
  return {
    kind: 'result',
    result: {
      content: [{ type: 'text', text: signIn.text }],
      isError: true,
      _meta: { [AUTH_META_KEY]: toAuthMeta(signIn) },
    },
    json: undefined,
  };
}
