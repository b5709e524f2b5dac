import { escapeInvisible } from './escapeInvisible.ts';

/** The title of a tool or server. The ID, which is unique, is in the tooltip; without a title the ID is shown. */
export function TitleOrId({
  name,
  title,
  className,
}: {
  readonly name: string;
  readonly title: string | undefined;
  readonly className?: string | undefined;
}) {
  if (!title || title === name) return <IdText name={name} className={className} />;
  return (
    <bdi className={className} title={escapeInvisible(name)}>
      {escapeInvisible(title)}
    </bdi>
  );
}

/** A server by its title, which anybody may choose, and by its name, which no other server has. */
export function ServerIdentity({
  server,
  title,
  className,
}: {
  readonly server: string;
  readonly title: string;
  readonly className?: string | undefined;
}) {
  return (
    <>
      {title !== server && <bdi className={className}>{escapeInvisible(title)}</bdi>} <IdText name={server} />
    </>
  );
}

/** A tool by its title, which its server may choose freely, and by its ID, which is unique on its server. */
export function ToolIdentity({ tool, title }: { readonly tool: string; readonly title: string }) {
  return (
    <>
      {title !== '' && title !== tool && <bdi>{escapeInvisible(title)}</bdi>} <IdText name={tool} />
    </>
  );
}

/** A name that must be told from others: each by itself, and nothing hidden in it. */
export function IdText({
  name,
  className,
}: {
  readonly name: string;
  readonly className?: string | undefined;
}) {
  return (
    <bdi>
      <code className={className}>{escapeInvisible(name)}</code>
    </bdi>
  );
}
