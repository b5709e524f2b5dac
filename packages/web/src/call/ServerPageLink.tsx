import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { strings } from '../strings/strings.ts';

/** Link to the server page, where the user can fix the problem. */
export function ServerPageLink({
  server,
  errorCode,
}: {
  readonly server: string;
  /** Code of the error that the page can fix. */
  readonly errorCode: string | undefined;
}) {
  const { setUpServer, openServer } = strings.call;
  return (
    <Link href={`/servers/${encodeSegment(server)}`}>
      {errorCode === 'MCP_USER_VARS_MISSING' ? setUpServer : openServer}
    </Link>
  );
}

/** Checks whether the server page explains this error. */
export function isServerError(code: string | undefined): boolean {
  return code?.startsWith('MCP_') === true && code !== 'MCP_ARGUMENTS_INVALID';
}
