import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { strings } from '../strings/strings.ts';

/** The way to the page of a server, where what is missing can be put right. */
export function ServerPageLink({
  server,
  errorCode,
}: {
  readonly server: string;
  /** Of what went wrong. */
  readonly errorCode: string | undefined;
}) {
  const { setUpServer, openServer } = strings.call;
  return (
    <Link href={`/servers/${encodeSegment(server)}`}>
      {errorCode === 'MCP_USER_VARS_MISSING' ? setUpServer : openServer}
    </Link>
  );
}

/** Whether the page of the server has more to say about what went wrong. */
export function isServerError(code: string | undefined): boolean {
  return code?.startsWith('MCP_') === true && code !== 'MCP_ARGUMENTS_INVALID';
}
