	switch (t->back) {
	default: Uerror("bad return move");
	case  0: goto R999; /* nothing to undo */

		 /* PROC :init: */

	case 3: // STATE 1
		;
		((P4 *)_this)->_10_21_n = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 5: // STATE 3
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 6: // STATE 4
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 7: // STATE 5
		;
		((P4 *)_this)->_10_21_n = trpt->bup.oval;
		;
		goto R999;

	case 8: // STATE 11
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 9: // STATE 12
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 10: // STATE 14
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC World */
	case 11: // STATE 29
		sv_restor();
		goto R999;
	case 12: // STATE 73
		sv_restor();
		goto R999;

	case 13: // STATE 77
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Clock */
	case 14: // STATE 21
		sv_restor();
		goto R999;

	case 15: // STATE 25
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Process */
	case 16: // STATE 4
		sv_restor();
		goto R999;
	case 17: // STATE 25
		sv_restor();
		goto R999;
	case 18: // STATE 46
		sv_restor();
		goto R999;
	case 19: // STATE 50
		sv_restor();
		goto R999;
	case 20: // STATE 59
		sv_restor();
		goto R999;
	case 21: // STATE 63
		sv_restor();
		goto R999;
	case 22: // STATE 69
		sv_restor();
		goto R999;
	case 23: // STATE 78
		sv_restor();
		goto R999;
	case 24: // STATE 92
		sv_restor();
		goto R999;
	case 25: // STATE 106
		sv_restor();
		goto R999;
	case 26: // STATE 109
		sv_restor();
		goto R999;
	case 27: // STATE 112
		sv_restor();
		goto R999;
	case 28: // STATE 115
		sv_restor();
		goto R999;
	case 29: // STATE 119
		sv_restor();
		goto R999;

	case 30: // STATE 123
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Session */
	case 31: // STATE 62
		sv_restor();
		goto R999;
	case 32: // STATE 72
		sv_restor();
		goto R999;
	case 33: // STATE 122
		sv_restor();
		goto R999;

	case 34: // STATE 126
		;
		p_restor(II);
		;
		;
		goto R999;
	}

