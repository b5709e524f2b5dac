import { Link } from 'wouter';
import { useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { classNames } from '../ui/classNames.ts';
import styles from './AdminNav.module.css';
import { operatorSections, sectionPath, sections, type AdminSection } from './sections.ts';

/** The pages of the administration, each with an address of its own. */
export function AdminNav({ here }: { readonly here: AdminSection }) {
  const { admin } = strings;
  const isOperator = useUser()?.isOperator ?? false;
  return (
    <nav className={styles['nav']} aria-label={admin.navigation}>
      <ul className={styles['links']}>
        {sections
          .filter((section) => isOperator || !operatorSections.has(section))
          .map((section) => (
            <li key={section}>
              <Link
                href={sectionPath(section)}
                className={classNames(styles['link'], section === here && styles['here'])}
                aria-current={section === here ? 'page' : undefined}
              >
                {admin[section].tab}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}
