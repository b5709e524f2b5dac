import type { ImportCredentialRequest } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

/** The input for importing a token. */
interface TokenDraft {
  readonly accessToken: string;
  readonly label: string;
  readonly refreshToken: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly expiresIn: string;
}

export type TokenField = keyof TokenDraft;
export type TokenProblems = Readonly<Partial<Record<TokenField, string>>>;

export const emptyTokenDraft: TokenDraft = {
  ...{ accessToken: '', label: '', refreshToken: '', issuer: '', clientId: '', expiresIn: '' },
};

/** Errors that can be found before sending. The gateway validates the rest. */
export function findTokenProblems(draft: TokenDraft): TokenProblems {
  const words = strings.credentials;
  const { accessToken, refreshToken, issuer, clientId, expiresIn } = trimFields(draft);
  const hasRefreshToken = refreshToken !== '';
  return {
    ...(accessToken === '' && { accessToken: words.tokenMissing }),
    ...(hasRefreshToken && issuer === '' && { issuer: words.requiredWithRefreshToken }),
    ...(hasRefreshToken && clientId === '' && { clientId: words.requiredWithRefreshToken }),
    ...(expiresIn !== '' && !/^[1-9]\d{0,9}$/.test(expiresIn) && { expiresIn: words.expiresInWrong }),
  };
}

/** The request. Empty fields are omitted. */
export function toTokenRequest(draft: TokenDraft): ImportCredentialRequest {
  const { accessToken, label, refreshToken, issuer, clientId, expiresIn } = trimFields(draft);
  return {
    accessToken,
    ...(label !== '' && { label }),
    ...(refreshToken !== '' && { refreshToken }),
    ...(issuer !== '' && { issuer }),
    ...(clientId !== '' && { clientId }),
    ...(expiresIn !== '' && { expiresIn: Number(expiresIn) }),
  };
}

/** Copied text often contains spaces. */
function trimFields({
  accessToken,
  label,
  refreshToken,
  issuer,
  clientId,
  expiresIn,
}: TokenDraft): TokenDraft {
  return {
    accessToken: accessToken.trim(),
    label: label.trim(),
    refreshToken: refreshToken.trim(),
    issuer: issuer.trim(),
    clientId: clientId.trim(),
    expiresIn: expiresIn.trim(),
  };
}
