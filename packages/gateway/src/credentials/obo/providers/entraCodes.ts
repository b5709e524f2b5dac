import type { FaultCode } from '../exchangeProvider.ts';

interface EntraExplanation {
  /** Absent: the OAuth error code decides. */
  readonly outcome?: FaultCode;
  /** Meaning and remedy, for the operator. */
  readonly hint: string;
}

const SIGN_IN = 'The user must sign in again. No configuration change is needed.';
const PROVE_MORE = 'The user must sign in again and complete the required verification.';
const LOGIN_APP =
  'Users must sign in with the same app that exchanges: OPENID_SCOPE must contain a scope of that app.';
const CONSENT =
  'Grant admin consent for this permission to the app, or list the app under knownClientApplications.';

/**
 * Meaning and remedy of AADSTS numbers, by outcome. A number that can depend on the user is never `OBO_MISCONFIGURED`: that outcome
 * pauses the server for all users. `byOAuthError`: the OAuth error code decides.
 */
const HINTS: Readonly<Record<FaultCode | 'byOAuthError', Readonly<Record<number, string>>>> = {
  OBO_REJECTED: {
    50020:
      'The user’s account is in another directory. Invite the account as a guest, or correct the authority.',
    50034:
      'The user does not exist in this directory. Invite the account as a guest, or correct the authority.',
    50053: 'The user’s account is locked. It unlocks by itself, or an admin resets the password.',
    50057: 'The user’s account is disabled. Enable it if the user should have access.',
    50105:
      'The user is not assigned to the app. Assign the user or one of the user’s groups, or turn off “assignment required”.',
    50133: `The user’s session ended with a change of password. ${SIGN_IN}`,
    50173: `The user’s grant was revoked. ${SIGN_IN}`,
    70008: `The user’s grant has expired. ${SIGN_IN}`,
    70043: `The sign-in is older than a policy allows. ${SIGN_IN}`,
    500133:
      'The token to be exchanged has expired or is not valid yet. The user must sign in again. If it is frequent, check the clocks.',
    700082: `The user’s grant expired because it was not used. ${SIGN_IN}`,
    700084: `The user’s grant has expired. ${SIGN_IN}`,
    7000114:
      'The token to be exchanged belongs to an app, not to a user. Only user tokens can be exchanged; apps must use their own credentials.',
  },
  OBO_CONSENT_REQUIRED: {
    50055: 'The user’s password has expired. The user must sign in again and change it.',
    50074: `A second factor is needed. ${PROVE_MORE}`,
    50076: `A second factor is needed for this resource. ${PROVE_MORE}`,
    50079: `The user must register a second factor. ${PROVE_MORE}`,
    50097: `Device authentication is required. ${PROVE_MORE}`,
    50131: 'A conditional access policy is not met. The Entra sign-in log names the policy.',
    50158: `An external security challenge is required. ${PROVE_MORE}`,
    53000: 'The device does not comply with policy. The user must sign in on a compliant device.',
    53001: 'The device is not joined to the domain. The user must sign in on a domain-joined device.',
    53003: 'A conditional access policy blocks the user. The Entra sign-in log names the policy.',
    53004: `The user must register for multi-factor sign-in. ${PROVE_MORE}`,
    65001: `No consent was granted for this app to access the resource for the user. ${CONSENT}`,
    65004: `The user declined consent. ${CONSENT}`,
    90094: `An admin must consent to this permission. ${CONSENT}`,
  },
  OBO_MISCONFIGURED: {
    28000:
      'The scopes belong to more than one resource. obo.scopes must contain scopes of one resource only.',
    28002: 'A scope is malformed or unknown. Correct obo.scopes.',
    28003: 'No scope was requested. Set obo.scopes.',
    50001:
      'The resource is not in this directory. Check the application id URI in obo.scopes; an admin may have to add the app.',
    50013: `The token to be exchanged is not for this app, or its signature is invalid. ${LOGIN_APP}`,
    50059: 'The request names no directory. The authority must end in the directory’s id.',
    50146:
      'The resource’s app maps claims without a key to sign them with. Set acceptMappedClaims in its manifest, or give the app its own signing key.',
    65002:
      'The resource must pre-authorize this app. Its owner lists the app under authorizedClientApplications.',
    65005:
      'The app’s registration does not list this permission. Add it under API permissions and grant consent.',
    70001: 'The app is unknown or disabled. Check clientId and the authority’s directory.',
    70002: 'The app’s credential is not accepted. Check the secret or the certificate.',
    70003: 'The app may not use this grant. Check the type of the provider and the app’s registration.',
    70011: 'The scopes are not valid together. `.default` cannot be combined with other scopes.',
    70021:
      'No federated credential of the app matches the assertion. Compare issuer, subject and audience with assertionFile.',
    90002:
      'The directory does not exist in this cloud. Check the authority; national clouds have their own hosts.',
    90009: 'The app requests a token for itself by its URI. Use its application id in obo.scopes.',
    90014: 'A field of the request is missing. Check obo.scopes and clientId.',
    240002: `The token to be exchanged is an ID token. ${LOGIN_APP} Only an access token can be exchanged.`,
    500011:
      'The resource is not in this directory. Check the application id URI in obo.scopes; an admin may have to add the app.',
    500131: `The token to be exchanged is for another app. ${LOGIN_APP}`,
    501461:
      'The resource’s app accepts mapped claims, but its audience is neither its application id nor in a verified domain. Use the application id of the resource, or give its app its own signing key.',
    650052:
      'The organization has not subscribed to or enabled the resource. Check the scope, or have an admin add the service.',
    650057:
      'The app’s registration does not list this resource. Add it under API permissions and grant consent.',
    700016: 'The app is not in this directory. Check clientId and the directory in the authority.',
    700024:
      'The client assertion has expired or is not valid yet. Check the clock, and that assertionFile is renewed.',
    700027:
      'The client assertion is not signed with a key of the app. Upload this certificate to the app, or correct certificateFile.',
    700211:
      'No federated credential of the app has the assertion’s issuer. Correct the federated credential, or assertionFile.',
    700212:
      'No federated credential of the app has the assertion’s audience. Correct the federated credential, or assertionFile.',
    700213:
      'No federated credential of the app has the assertion’s subject. Correct the federated credential, or assertionFile.',
    900144: 'A field of the request is missing. Check obo.scopes and clientId.',
    1000502:
      'The certificate has expired or is not valid yet. Renew it, upload it, and replace certificateFile.',
    7000112: 'The app is disabled. Enable it in the directory.',
    7000215: 'The client secret is wrong. Use the secret’s value, not its id.',
    7000218: 'The app sent no credential. Set clientSecret, certificateFile or assertionFile.',
    7000222: 'The client secret has expired. Create a new secret, or use a certificate.',
    9010010:
      'The resource and the scopes do not belong together. Remove obo.resource: the scopes already name the resource.',
  },
  OBO_TEMPORARY: {
    50196:
      'Entra detected a loop: too many identical requests. It stops by itself. Look for a server that rejects every token.',
    90024: 'Entra timed out. It resolves by itself.',
    90033: 'A part of Entra is unavailable. It resolves by itself.',
    90055:
      'The directory sends Entra too many requests. It resolves by itself. If it is frequent, check which other apps send requests for the directory.',
  },
  byOAuthError: {
    50027: `The token to be exchanged is malformed or from another issuer. ${LOGIN_APP}`,
  },
  OBO_EMPTY_RESPONSE: {},
};

const explanations: ReadonlyMap<number, EntraExplanation> = new Map(
  Object.entries(HINTS).flatMap(([outcome, hints]) =>
    Object.entries(hints).map(([code, hint]) => [
      Number(code),
      outcome === 'byOAuthError' ? { hint } : { hint, outcome: outcome as FaultCode },
    ]),
  ),
);

/** The AADSTS number from `error_codes`, else from the start of the description. Nothing else of the description is used. */
export function entraCode(body: Readonly<Record<string, unknown>>): number | undefined {
  const { error_codes: list, error_description: description } = body;
  if (Array.isArray(list)) {
    const codes = (list as readonly unknown[]).filter(isCode);
    return codes.find((code) => explanations.has(code)) ?? codes[0];
  }
  const digits = typeof description === 'string' ? /^AADSTS(\d{4,9})\b/.exec(description)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

export function explainEntraCode(code: number): EntraExplanation {
  return explanations.get(code) ?? { hint: `Entra’s documentation explains AADSTS${code}.` };
}

function isCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e9;
}
