/** Ein Ablauf als Karte. */
import type { cards as english } from '../en/cards'

export const cards: Record<keyof typeof english, string> = {
  'wf.draft': 'Entwurf',
  'wf.draftSaid': 'Entwurf: {verdict}',
  'wf.notPublished': 'Noch nicht veröffentlicht',
  'wf.stopped': 'Gestoppt: seine Quelle macht keine Läufe',
  'wf.live': '{n, plural, one {# Lauf ist im Gang} other {# Läufe sind im Gang}}',
  'wf.perDay': 'Läufe am Tag',
  'wf.succeeded': 'Gelungen',
  'wf.noneYet': 'noch keiner',
  'wf.typical': 'Üblich',
  'wf.sparkLabel': '{n} Läufe endeten in der Zeit',
  'wf.by.api': 'Gestartet durch einen API-Aufruf',
  'wf.by.manual': 'Gestartet von Menschen',
  'wf.by.daily': 'Gestartet jeden Tag um {time}',
  'wf.by.weekly': 'Gestartet jeden {day} um {time}',
  'wf.by.workdays': 'Gestartet Montag bis Freitag um {time}',
  'wf.by.monthly': 'Gestartet am {day}. jedes Monats um {time}',
  'wf.by.hourly': 'Gestartet jede Stunde um {minute}',
  'wf.by.every': 'Gestartet alle {what}',
  'wf.by.schedule': 'Gestartet von der Uhr: {what}',
  'wf.by.object': 'Gestartet von jedem neuen Objekt in {what}',
  'wf.by.search': 'Gestartet von einer Suche in {what}',
  'wf.by.webhook': 'Gestartet durch einen Hook',
  'wf.by.topic': 'Gestartet von Nachrichten über {what}',
}
