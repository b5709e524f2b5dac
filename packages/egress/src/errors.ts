import { formatPath, type ErrorCode, type Path } from '@behalf/contracts';

/** The reasons why a request or its response failed: title, action and error code. */
const reasons = {
  bad_url: ['is not a valid http(s) URL, or contains credentials', 'MCP_DOMAIN_NOT_ALLOWED'],
  bad_request: [
    'cannot receive this request: a header or the body is not valid in HTTP',
    'MCP_PROTOCOL_ERROR',
  ],
  domain_not_allowed: ['is not in mcpSettings.allowedDomains', 'MCP_DOMAIN_NOT_ALLOWED'],
  blocked_name: [
    'is a blocked internal host name; mcpSettings.allowedAddresses can allow it',
    'MCP_DOMAIN_NOT_ALLOWED',
  ],
  private_address: [
    'is not at a public address; mcpSettings.allowedAddresses can allow it',
    'MCP_DOMAIN_NOT_ALLOWED',
  ],
  gateway_address: ['is this gateway itself', 'MCP_DOMAIN_NOT_ALLOWED'],
  hop_limit: ['would be the third gateway hop in a row: the servers form a loop', 'MCP_DOMAIN_NOT_ALLOWED'],
  dns_failed: ['cannot be resolved', 'MCP_UNREACHABLE'],
  connection_failed: ['cannot be reached, or closed the connection', 'MCP_UNREACHABLE'],
  certificate_untrusted: [
    'presents a certificate that is not trusted; set caFile to the CA that signed it',
    'MCP_UNREACHABLE',
  ],
  proxy_refused: ['cannot be reached through the configured proxy', 'MCP_UNREACHABLE'],
  closed: ['was requested after outbound connections were closed', 'MCP_UNREACHABLE'],
  redirect_refused: [
    'responded with a redirect, and this request does not follow redirects',
    'MCP_PROTOCOL_ERROR',
  ],
  too_many_redirects: ['redirected more than 5 times', 'MCP_PROTOCOL_ERROR'],
  encoded_response: [
    'sent a compressed response, but the request did not accept compression',
    'MCP_PROTOCOL_ERROR',
  ],
  connect_timeout: ['did not accept a connection in time', 'MCP_TIMEOUT'],
  headers_timeout: ['did not send response headers in time', 'MCP_TIMEOUT'],
  total_timeout: ['did not finish its response in time', 'MCP_TIMEOUT'],
  idle_timeout: ['stopped sending before the response was complete', 'MCP_TIMEOUT'],
  body_too_large: ['exceeded the response size limit', 'MCP_RESPONSE_TOO_LARGE'],
  sse_line_too_large: ['exceeded the event stream line limit', 'MCP_RESPONSE_TOO_LARGE'],
} as const satisfies Record<string, readonly [message: string, code: ErrorCode]>;

export type EgressReason = keyof typeof reasons;
export const egressReasons = Object.keys(reasons) as EgressReason[];

interface EgressErrorDetail {
  /** A system error code such as ECONNREFUSED, or the limit that was exceeded. Never text from the server. */
  detail?: string;
  /** True if the server may have received the request. Repeating it could then repeat its effect. */
  requestSent?: boolean;
}

/** Contains only the host of the URL, because a path or query may contain a secret. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly reason: EgressReason;
  readonly host: string;
  readonly detail: string | undefined;
  readonly requestSent: boolean;
  constructor(reason: EgressReason, host: string, { detail, requestSent = false }: EgressErrorDetail = {}) {
    super(`${host} ${reasons[reason][0]}${detail === undefined ? '' : ` (${detail})`}`);
    this.reason = reason;
    this.host = host;
    this.detail = detail;
    this.requestSent = requestSent;
  }
}

/** Maps a reason to the error code that callers see. */
export function getEgressErrorCode(error: EgressError): ErrorCode {
  return reasons[error.reason][1];
}

/**
 * A setting that cannot be compiled into a policy. It stops the start or rejects the reload. The message does not
 * repeat the value, which may contain a password.
 */
export class EgressPolicyError extends Error {
  override readonly name = 'EgressPolicyError';
  /** The setting as a path, such as `['allowedAddresses', 0]`, or the variable, such as `['PROXY']`. */
  readonly path: Path;
  /** The problem, as the rest of a sentence that starts with the setting's name. */
  readonly reason: string;
  constructor(path: Path, reason: string) {
    super(`${formatPath(path)} ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

const SYSTEM_CODE = /^[A-Z][A-Z0-9_]{1,48}$/;
/** The platform's error codes for a certificate that is not trusted, has expired or is for another name. */
const UNTRUSTED_CODE =
  /^(?:UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|CERT_|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|ERR_TLS_CERT_ALTNAME_)/;

/** Converts any error of the socket or the HTTP client to an EgressError, without its message. */
export function toEgressError(error: unknown, host: string, requestSent: boolean): EgressError {
  if (error instanceof EgressError) return error;
  const code = getSystemCode(error);
  // The HTTP client rejected a header name or value. Its message contains the header.
  if (code === 'UND_ERR_INVALID_ARG') return new EgressError('bad_request', host);
  const detail = code !== undefined && SYSTEM_CODE.test(code) ? { detail: code } : {};
  // The certificate is checked before any request is sent.
  if (isUntrustedCertificate(error)) return new EgressError('certificate_untrusted', host, detail);
  return new EgressError('connection_failed', host, { ...detail, requestSent });
}

export function isUntrustedCertificate(error: unknown): boolean {
  return UNTRUSTED_CODE.test(getSystemCode(error) ?? '');
}

function getSystemCode(error: unknown): string | undefined {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
