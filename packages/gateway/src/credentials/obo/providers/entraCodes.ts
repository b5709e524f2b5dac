import type { FaultCode } from '../exchangeFault.ts';

/** What a number of Entra's means here, and what an admin does about it. */
export interface EntraExplanation {
  /** Absent: as the OAuth error says. */
  readonly outcome?: FaultCode;
  readonly hint: string;
}

type Row = readonly [says: string, fix: string, outcome?: FaultCode];

const SIGN_IN = 'The user signs in again; nothing is to be changed.';
const PROVE_MORE = 'The user signs in again and proves what is asked for.';
const LOGIN_APP =
  'Sign people in with the app that exchanges: OPENID_SCOPE must ask for a scope of that very app.';
const CONSENT =
  'Grant admin consent for this permission to the app, or list the app under knownClientApplications.';

const REJECTED = 'OBO_REJECTED';
const CONSENT_REQUIRED = 'OBO_CONSENT_REQUIRED';
const MISCONFIGURED = 'OBO_MISCONFIGURED';
const TEMPORARY = 'OBO_TEMPORARY';

/** What can only depend on the caller is never `misconfigured`: that puts a server aside for everybody. */
const TABLE: Readonly<Record<number, Row>> = {
  // The user's token.
  240002: [
    'The token to be exchanged is an ID token.',
    `${LOGIN_APP} Only an access token can be exchanged.`,
    MISCONFIGURED,
  ],
  50013: ['The token to be exchanged is not for this app, or its signature fails.', LOGIN_APP, MISCONFIGURED],
  500131: ['The token to be exchanged is for another app.', LOGIN_APP, MISCONFIGURED],
  500133: [
    'The token to be exchanged has ended or is not valid yet.',
    'The user signs in again. If it is frequent, check the clocks.',
    REJECTED,
  ],
  50027: ['The token to be exchanged is malformed or by another issuer.', LOGIN_APP],
  50146: [
    'The resource’s app maps claims without a key to sign them with.',
    'Set acceptMappedClaims in its manifest, or give it a signing key of its own.',
    MISCONFIGURED,
  ],
  501461: [
    'The resource’s app accepts mapped claims, but its audience is neither its application id nor in a verified domain.',
    'Name the resource by its application id, or give its app a signing key of its own.',
    MISCONFIGURED,
  ],
  7000114: [
    'The token to be exchanged is an app’s, not a user’s.',
    'Apps call with credentials of their own; only users are acted for.',
    REJECTED,
  ],
  // The user.
  50020: [
    'The user’s account is of another directory.',
    'Invite the account as a guest, or correct the authority.',
    REJECTED,
  ],
  50034: [
    'The user does not exist in this directory.',
    'Invite the account as a guest, or correct the authority.',
    REJECTED,
  ],
  50053: [
    'The user’s account is locked.',
    'It unlocks by itself, or an admin resets the password.',
    REJECTED,
  ],
  50055: ['The user’s password has ended.', 'The user signs in again and changes it.', CONSENT_REQUIRED],
  50057: ['The user’s account is disabled.', 'Enable it where that is meant.', REJECTED],
  50105: [
    'The user is not assigned to the app.',
    'Assign the user or a group of theirs, or turn off “assignment required”.',
    REJECTED,
  ],
  50133: ['The user’s session ended with a change of password.', SIGN_IN, REJECTED],
  50173: ['The user’s grant was revoked.', SIGN_IN, REJECTED],
  70008: ['The user’s grant has ended.', SIGN_IN, REJECTED],
  70043: ['The sign-in is older than a policy allows.', SIGN_IN, REJECTED],
  700082: ['The user’s grant ended because it was not used.', SIGN_IN, REJECTED],
  700084: ['The user’s grant has ended.', SIGN_IN, REJECTED],
  // What must be proven or agreed to.
  50074: ['A second factor is needed.', PROVE_MORE, CONSENT_REQUIRED],
  50076: ['A second factor is needed for this resource.', PROVE_MORE, CONSENT_REQUIRED],
  50079: ['The user must register a second factor.', PROVE_MORE, CONSENT_REQUIRED],
  50097: ['The device must prove itself.', PROVE_MORE, CONSENT_REQUIRED],
  50131: [
    'A conditional access policy is not met.',
    'See the sign-in log of Entra for which one.',
    CONSENT_REQUIRED,
  ],
  50158: ['A check outside Entra is needed.', PROVE_MORE, CONSENT_REQUIRED],
  53000: [
    'The device does not comply with policy.',
    'The user signs in on a device that does.',
    CONSENT_REQUIRED,
  ],
  53001: [
    'The device is not joined to the domain.',
    'The user signs in on a device that is.',
    CONSENT_REQUIRED,
  ],
  53003: [
    'A conditional access policy blocks the user.',
    'See the sign-in log of Entra for which one.',
    CONSENT_REQUIRED,
  ],
  53004: ['The user must register for multi-factor sign-in.', PROVE_MORE, CONSENT_REQUIRED],
  65001: ['Nobody has agreed that this app may use the resource for the user.', CONSENT, CONSENT_REQUIRED],
  65004: ['The user did not agree.', CONSENT, CONSENT_REQUIRED],
  90094: ['An admin must agree to this permission.', CONSENT, CONSENT_REQUIRED],
  // Scopes and resources.
  28000: [
    'The scopes are of more than one resource.',
    'A server has the scopes of one resource: correct obo.scopes.',
    MISCONFIGURED,
  ],
  28002: ['A scope is malformed or unknown.', 'Correct obo.scopes.', MISCONFIGURED],
  28003: ['No scope was asked for.', 'Set obo.scopes.', MISCONFIGURED],
  50001: [
    'The resource is not in this directory.',
    'Check the application id URI in obo.scopes; an admin may have to add the app.',
    MISCONFIGURED,
  ],
  500011: [
    'The resource is not in this directory.',
    'Check the application id URI in obo.scopes; an admin may have to add the app.',
    MISCONFIGURED,
  ],
  65002: [
    'The resource must pre-authorize this app.',
    'Its owner lists the app under authorizedClientApplications.',
    MISCONFIGURED,
  ],
  65005: [
    'The app’s registration does not list this permission.',
    'Add it under API permissions and grant consent.',
    MISCONFIGURED,
  ],
  650052: [
    'The directory has no subscription to the resource.',
    'Check the scope, or have an admin add the service.',
    MISCONFIGURED,
  ],
  650057: [
    'The app’s registration does not list this resource.',
    'Add it under API permissions and grant consent.',
    MISCONFIGURED,
  ],
  70011: [
    'The scopes are not valid together.',
    '`.default` stands alone: no other scope of any resource beside it.',
    MISCONFIGURED,
  ],
  90009: [
    'The app asks for a token for itself by its URI.',
    'Use its application id in obo.scopes.',
    MISCONFIGURED,
  ],
  9010010: [
    'The resource and the scopes do not belong together.',
    'Leave out obo.resource: the scopes name the resource.',
    MISCONFIGURED,
  ],
  // The app and its proof.
  70001: ['The app is unknown or disabled.', 'Check clientId and the authority’s directory.', MISCONFIGURED],
  70002: ['The app’s proof is not accepted.', 'Check the secret or the certificate.', MISCONFIGURED],
  70003: [
    'The app may not use this grant.',
    'Check the type of the provider and the app’s registration.',
    MISCONFIGURED,
  ],
  70021: [
    'No federated credential of the app matches the assertion.',
    'Compare issuer, subject and audience with assertionFile.',
    MISCONFIGURED,
  ],
  700016: [
    'The app is not in this directory.',
    'Check clientId and the directory in the authority.',
    MISCONFIGURED,
  ],
  700024: [
    'The client assertion has ended or is not valid yet.',
    'Check the clock, and that assertionFile is renewed.',
    MISCONFIGURED,
  ],
  700027: [
    'The client assertion’s signature is not by a key of the app.',
    'Upload this certificate to the app, or correct certificateFile.',
    MISCONFIGURED,
  ],
  700211: [
    'No federated credential of the app has the assertion’s issuer.',
    'Correct the federated credential, or assertionFile.',
    MISCONFIGURED,
  ],
  700212: [
    'No federated credential of the app has the assertion’s audience.',
    'Correct the federated credential, or assertionFile.',
    MISCONFIGURED,
  ],
  700213: [
    'No federated credential of the app has the assertion’s subject.',
    'Correct the federated credential, or assertionFile.',
    MISCONFIGURED,
  ],
  1000502: [
    'The certificate has ended or is not valid yet.',
    'Renew it, upload it, and replace certificateFile.',
    MISCONFIGURED,
  ],
  7000112: ['The app is disabled.', 'Enable it in the directory.', MISCONFIGURED],
  7000215: ['The client secret is wrong.', 'Take the secret’s value, not its id.', MISCONFIGURED],
  7000218: ['The app sent no proof.', 'Set clientSecret, certificateFile or assertionFile.', MISCONFIGURED],
  7000222: ['The client secret has ended.', 'Make a new one, or use a certificate.', MISCONFIGURED],
  // The address and the request.
  50059: ['The request names no directory.', 'The authority must end in the directory’s id.', MISCONFIGURED],
  90002: [
    'The directory does not exist in this cloud.',
    'Check the authority; national clouds have hosts of their own.',
    MISCONFIGURED,
  ],
  90014: ['A field of the request is missing.', 'Check obo.scopes and clientId.', MISCONFIGURED],
  900144: ['A field of the request is missing.', 'Check obo.scopes and clientId.', MISCONFIGURED],
  // What passes.
  50196: [
    'Entra sees a loop: the same request too often.',
    'It ends by itself. Look for a server that refuses every token.',
    TEMPORARY,
  ],
  90024: ['Entra gave up on the request.', 'It passes by itself.', TEMPORARY],
  90055: [
    'The directory sends Entra too many requests.',
    'It passes by itself. If it is frequent, look for what else asks on behalf of the directory.',
    TEMPORARY,
  ],
  90033: ['A part of Entra is away.', 'It passes by itself.', TEMPORARY],
};

/** From the list, else from the beginning of the description, of which nothing but the digits is taken. */
export function entraCode(body: Readonly<Record<string, unknown>>): number | undefined {
  const { error_codes: list, error_description: description } = body;
  if (Array.isArray(list)) {
    const codes = (list as readonly unknown[]).filter(isCode);
    return codes.find((code) => Object.hasOwn(TABLE, code)) ?? codes[0];
  }
  const digits = typeof description === 'string' ? /^AADSTS(\d{4,9})\b/.exec(description)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

export function explainEntraCode(code: number): EntraExplanation {
  const row = TABLE[code];
  if (!row) return { hint: `Entra’s documentation explains AADSTS${code}.` };
  const [says, fix, outcome] = row;
  return { hint: `${says} ${fix}`, ...(outcome !== undefined && { outcome }) };
}

function isCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e9;
}
